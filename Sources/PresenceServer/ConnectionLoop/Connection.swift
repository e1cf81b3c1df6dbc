import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceWire

/// A client's connection. One that is idle owns no buffers.
struct Connection {
    /// The stream's name in the loop.
    var id: StreamID
    /// How far the connection has come.
    private(set) var phase = Phase.free
    /// What is going on beside that.
    var state: State = []
    /// The protocol that it speaks: how bodies are put on it.
    var framing = Framing.native
    /// What is written at the end of the turn, or when the socket has drained.
    var outbox = Outbox()
    /// The request in progress; the next is read when it has been answered.
    var awaiting: RequestID?
    /// Input that is not yet a complete frame.
    var splitter = FrameSplitter()
    /// The login, frame or farewell deadline.
    var deadline = WheelTimer()
    /// When some of the pending bytes must have been read.
    var progressDeadline = WheelTimer()
    /// When it may have been silent for too long.
    var silenceDeadline = WheelTimer()
    /// When the token of its session expires.
    var tokenDeadline = WheelTimer()
    /// Its rate limit.
    var requests = TokenBucket()
    /// Its address, in the address book.
    var address = UInt32.max
    /// Bytes added to the outbox since the socket stopped accepting.
    var bytesHeldBack = 0
    /// Pending bytes of the socket at the last check.
    var bytesPending = 0
    /// Its place among the slow connections; the maximum: it is not one of them.
    var slowPlace = UInt32.max

    /// How far a connection has come. From every phase it becomes free when its stream is gone.
    enum Phase: UInt8 {
        /// There is none. To: `anonymous`; `serving`, if it is of this process.
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
            case (.free, .anonymous), (.free, .serving): true
            case (.anonymous, .serving), (.anonymous, .ending), (.anonymous, .closing): true
            case (.serving, .ending), (.serving, .closing): true
            case (.ending, .closing), (.closing, .closing): true
            default: false
            }
        }
    }

    /// What is going on beside the phase.
    struct State: OptionSet {
        let rawValue: UInt32
        /// It is in the list of connections to flush at the end of the turn.
        static let isDirty = State(rawValue: 1)
        /// The socket has not accepted all of the last write yet.
        static let isBlocked = State(rawValue: 2)
        /// It is not read from; its input stays in the kernel.
        static let isPaused = State(rawValue: 4)
        /// Its login list is not complete.
        static let isListing = State(rawValue: 8)
        /// Its request has been answered; more may be in the splitter.
        static let isResumable = State(rawValue: 16)
        /// It is above its rate limit, and is not read from for a while.
        static let isThrottled = State(rawValue: 32)
        /// It is logged in as an app server.
        static let isAppServer = State(rawValue: 64)
        /// In-process connection.
        static let isInternal = State(rawValue: 128)
        /// It reads the feed.
        static let isFeedReader = State(rawValue: 256)
        /// Its request shows a new token.
        static let isRefreshing = State(rawValue: 512)
        /// It was accepted above a limit, and is given time to read the reason.
        static let isTurnedAway = State(rawValue: 1_024)
        /// It was closed in the turn in which it was accepted.
        static let isDismissed = State(rawValue: 2_048)
        /// It was not read from for a while: what is read next may have arrived long ago.
        static let isCatchingUp = State(rawValue: 4_096)
        /// It has not taken an event; until its states have followed, it takes none.
        static let isConflated = State(rawValue: 8_192)
        /// It has missed events since it last asked for its states.
        static let hasMissed = State(rawValue: 16_384)
        /// It was not read from when its silence was looked at.
        static let isUnread = State(rawValue: 32_768)
        /// It has told the engine host that it has written everything, and waits for what follows.
        static let hasAsked = State(rawValue: 65_536)
    }
}

extension Connection {
    /// Goes on to another phase.
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

    /// Takes an event into the outbox of a client that keeps up.
    mutating func take(
        _ frame: SharedFrames.Frame, of frames: inout SharedFrames, upTo outboxBytesMax: Int
    ) -> Taking {
        guard phase == .serving, state.isDisjoint(with: [.isBlocked, .isConflated]),
            outbox.count < outboxBytesMax
        else { return .notSimple }
        frames.share(frame, with: &outbox)
        guard !state.contains(.isDirty) else { return .taken }
        state.insert(.isDirty)
        return .takenFirst
    }
}
