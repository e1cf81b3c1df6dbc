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
    var phase = Phase.free
    /// What is going on beside that.
    var state: State = []
    /// What has to go out at the end of the turn, or when the socket has drained.
    var outbox = Outbox()
    /// What has changed since the outbox was full: the topics in order, without repeats.
    var behind: [TopicHandle] = []
    /// The request that is being carried out; the next is read when it has been answered.
    var awaiting: RequestID?
    /// What has come and is not yet a frame.
    var splitter = FrameSplitter()
    /// The login, frame or farewell deadline.
    var deadline = TimerID.none
    /// When some of what is pending must have been taken.
    var progressDeadline = TimerID.none
    /// When the token ends that its session was begun with.
    var tokenDeadline = TimerID.none
    /// What it may ask now.
    var requests = TokenBucket()
    /// The address it comes from, in the address book.
    var address = UInt32.max
    /// Bytes in the outbox that came while the socket had not taken the last write.
    var bytesHeldBack = 0
    /// Bytes that the socket had not taken yet when that was last looked at.
    var bytesPending = 0
    /// Its place among those that have not taken everything; the highest: it has.
    var slowPlace = UInt32.max

    /// How far a connection has come.
    enum Phase: UInt8 {
        /// There is none.
        case free
        /// It has not logged in. To: `serving`, `closing`, `free`.
        case anonymous
        /// It has. To: `ending`, `closing`, `free`.
        case serving
        /// The peer sends no more; what it has asked for is still answered. To: `closing`, `free`.
        case ending
        /// It is being given our last words, and is not listened to any more. To: `free`.
        case closing
    }

    /// What is going on beside the phase.
    struct State: OptionSet {
        let rawValue: UInt16
        /// It is in the list of those to be flushed at the end of the turn.
        static let isDirty = State(rawValue: 1)
        /// The socket has not taken all of the last write yet.
        static let isBlocked = State(rawValue: 2)
        /// Its bytes are held back in the kernel.
        static let isPaused = State(rawValue: 4)
        /// Its login list is not complete.
        static let isListing = State(rawValue: 8)
        /// Its request has been answered; more may stand in the splitter.
        static let isResumable = State(rawValue: 16)
        /// It has asked too much too fast, and is not read from for a while.
        static let isThrottled = State(rawValue: 32)
        /// It has logged in as an app server.
        static let isAppServer = State(rawValue: 64)
        /// It comes from this process.
        static let isOfTheHouse = State(rawValue: 128)
        /// It reads the feed.
        static let isFeedReader = State(rawValue: 256)
        /// Its request waits for a token to be judged.
        static let isBeingJudged = State(rawValue: 512)
        /// It came beyond a limit, and is given time to read that.
        static let isTurnedAway = State(rawValue: 1_024)
    }
}

extension Connection {
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
        guard phase == .serving, !state.contains(.isBlocked), behind.isEmpty,
            outbox.count < outboxBytesMax
        else { return .notSimple }
        frames.share(frame, with: &outbox)
        guard !state.contains(.isDirty) else { return .taken }
        state.insert(.isDirty)
        return .takenFirst
    }
}
