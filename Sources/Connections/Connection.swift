import Containers
import EventLoop
import Outboxes
import PresenceCore

/// What a table keeps of a connection, whatever its protocol. One that is idle owns no buffers.
///
/// The order of the fields keeps it small: there is one for each slot.
struct Connection {
    /// The stream's name in the loop.
    var id: StreamID
    /// The connection's phase.
    private(set) var phase = ConnectionPhase.free
    /// What is at the other end.
    var peer = ConnectionPeer.client
    /// Which encoding of an event it shares with others.
    var variant = EventVariant.plain
    /// What it is sent piece by piece.
    var list = ListProgress()
    /// What is written at the end of a turn, or when the socket has drained.
    var output = OutputState()
    /// Whether it is read from.
    var input = InputState()
    /// The login, frame or farewell deadline.
    var deadline = WheelTimer()
    /// When it may have been silent for too long.
    var silence = Silence()
    /// When the token of its session expires.
    var token = TokenExpiry()
    /// Bytes of `gapText`, so that a delivery need not look at it.
    var gapTextBytes: UInt16 = 0
    /// Its address, in the address book.
    var address = ConnectionsPerNetwork.Entry.none
    /// Its rate limit.
    var requests = TokenBucket()
    /// What fills the gaps of frames that it shares: the bare JID of an XMPP client.
    var gapText: [UInt8] = []
}

/// The phase of a connection. From every phase it becomes free when its stream is closed.
public enum ConnectionPhase: UInt8, Sendable {
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

    /// Whether a connection goes from this phase to another while its stream is open.
    func mayBecome(_ next: ConnectionPhase) -> Bool {
        switch (self, next) {
        case (.free, .anonymous): true
        case (.anonymous, .serving), (.anonymous, .ending), (.anonymous, .closing): true
        case (.serving, .ending), (.serving, .closing): true
        case (.ending, .closing), (.closing, .closing): true
        default: false
        }
    }

    /// Whether what the peer sends is processed.
    public var isOpen: Bool { self == .anonymous || self == .serving }
}

/// What is at the other end of a connection: which limits it counts against.
public enum ConnectionPeer: UInt8, Sendable {
    /// A client, or a peer that has not logged in.
    case client
    /// An app server that has logged in over the network.
    case appServer
    /// A peer beyond a limit, which is given time to read the reason.
    case overLimit
    /// A peer whose connection was closed in the turn in which it was accepted.
    case closedAtOnce
}

/// Which encoding of an event a connection is sent. Connections of one variant share its frame.
public struct EventVariant: Hashable, Sendable {
    /// Its number, from 0.
    public let number: UInt16

    /// A variant; numbers are small, since tables have a place for each.
    public init(_ number: UInt16) { self.number = number }

    /// That of a connection that has not decided otherwise.
    public static let plain = EventVariant(0)
}

extension Connection {
    /// Becomes as a new one, for a stream. A place in the queue of those to write remains.
    mutating func reset(for stream: StreamID) {
        let isDirty = output.isDirty
        self = Connection(id: stream)
        if isDirty { output.markDirty() }
    }

    /// Enters another phase.
    mutating func enter(_ next: ConnectionPhase) {
        precondition(phase.mayBecome(next), "a connection that is \(phase) becomes \(next)")
        phase = next
    }

    /// The result of offering an event to a connection.
    enum Taking {
        /// It is in the outbox.
        case taken
        /// It is in the outbox, which is to be flushed from now on.
        case takenFirst
        /// Something has to be considered first; nothing has happened.
        case notSimple
    }

    /// Takes an event into the outbox of a client that keeps up.
    @inline(__always)
    mutating func take(
        _ frame: SharedFrames.Frame, of frames: inout SharedFrames, upTo outboxBytesMax: Int
    ) -> Taking {
        guard phase == .serving, !list.isConflated, !output.isBlocked,
            output.outbox.count < outboxBytesMax
        else { return .notSimple }
        frames.share(frame, with: &output.outbox, textBytes: Int(gapTextBytes))
        return output.markDirty() ? .takenFirst : .taken
    }
}
