import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceWire

/// A client's connection. One that is idle owns no buffers.
///
/// What belongs together is a type of its own: `ConnectionOutput`, `ConnectionInput`, `Pulling`,
/// `Silence`, `TokenExpiry`. The order of the fields keeps it small: there is one for each slot.
struct Connection {
    /// The stream's name in the loop.
    var id: StreamID
    /// How far the connection has come.
    private(set) var phase = Phase.free
    /// What is at the other end.
    var peer = Peer.client
    /// The protocol that it speaks: how bodies are put on it.
    var framing = Framing.native
    /// What it is sent piece by piece.
    var pulling = Pulling()
    /// What is written at the end of a turn, or when the socket has drained.
    var output = ConnectionOutput()
    /// What it has sent, and the request in progress.
    var input = ConnectionInput()
    /// The login, frame or farewell deadline.
    var deadline = WheelTimer()
    /// When it may have been silent for too long.
    var silence = Silence()
    /// Bytes of the bare JID of an XMPP client that is bound: the text for gaps in shared frames.
    var bareJIDBytes: UInt16 = 0
    /// When the token of its session expires.
    var token = TokenExpiry()
    /// Its address, in the address book.
    var address = AddressBook.Entry.none
    /// Its rate limit.
    var requests = TokenBucket()

    /// How far a connection has come. From every phase it becomes free when its stream is gone.
    enum Phase: UInt8 {
        /// There is none. To: `anonymous`.
        case free
        /// It has not logged in. To: `serving`, `ending`, `closing`.
        case anonymous
        /// It has. To: `ending`, `closing`.
        case serving
        /// The peer has closed its half; its pending request is still answered. To: `closing`.
        case ending
        /// Flushing the final frame; input is ignored. To: `closing`, when it is cut short.
        case closing

        /// Whether a connection goes from this phase to another while its stream is there.
        func mayBecome(_ next: Phase) -> Bool {
            switch (self, next) {
            case (.free, .anonymous): true
            case (.anonymous, .serving), (.anonymous, .ending), (.anonymous, .closing): true
            case (.serving, .ending), (.serving, .closing): true
            case (.ending, .closing), (.closing, .closing): true
            default: false
            }
        }
    }

    /// What is at the other end of a connection: which limits it counts against.
    enum Peer: UInt8 {
        /// A client, or a peer that has not logged in.
        case client
        /// An app server that has logged in over the network.
        case appServer
        /// A peer beyond a limit, which is given time to read the reason.
        case turnedAway
        /// A peer whose connection was closed in the turn in which it was accepted.
        case dismissed
    }
}

extension Connection {
    /// Becomes as a new one, for a stream. A place in the queue of those to write remains.
    mutating func reset(for stream: StreamID) {
        let isDirty = output.isDirty
        self = Connection(id: stream)
        if isDirty { output.markDirty() }
    }

    /// Enters another phase.
    mutating func enter(_ next: Phase) {
        precondition(phase.mayBecome(next), "a connection that is \(phase) becomes \(next)")
        phase = next
    }

    /// What has become of an event.
    enum Taking {
        /// It is in the outbox.
        case taken
        /// It is in the outbox, which is to be flushed from now on.
        case takenFirst
        /// Something has to be considered first; nothing has happened.
        case notSimple
    }

    /// Takes an event into the outbox of a client that keeps up, and whose text for gaps in frames
    /// has `textBytes`.
    @inline(__always)
    mutating func take(
        _ frame: SharedFrames.Frame, of frames: inout SharedFrames, textBytes: Int = 0,
        upTo outboxBytesMax: Int
    ) -> Taking {
        guard phase == .serving, !pulling.isConflated, !output.isBlocked,
            output.outbox.count < outboxBytesMax
        else { return .notSimple }
        frames.share(frame, with: &output.outbox, textBytes: textBytes)
        return output.markDirty() ? .takenFirst : .taken
    }
}
