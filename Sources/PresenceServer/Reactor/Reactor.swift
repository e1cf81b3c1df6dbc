// Connects the loop, which reports what happens to sockets, the engine, which decides, and the
// store, which makes changes durable. The rules of presence are in the engine, not here.
//
// A turn of the loop:
//     bytes → frames → requests → commands → engine → effects        Reactor+Requests, +Edge
//     effects → frames in outboxes, writes for the store             Reactor+Effects, +Records
//     outcomes of the store → engine → effects                       Reactor+Streams
//     at its end: what is due, the store's batch, every outbox once  Reactor+Turn
//
// A connection has one request in progress at a time: responses come in the order of requests, and
// each request sees the effects of the one before it. Requests that arrive in the meantime wait in
// the connection's splitter, and beyond the size of a frame in the kernel.

import Containers
import EventLoop
import Logging
import Outboxes
import PresenceCore
import PresenceStore
import PresenceWire

/// Owns the engine and its sockets, on the loop's thread.
///
/// It is a value, and there is one: the compiler proves exclusive access to its properties, which
/// in a class would be looked up and checked at run time on each use.
struct Reactor<Network: Transport, Disk: Persistence>: ~Copyable {
    private(set) var configuration: Configuration
    let loop: Network
    let store: Disk
    let logger: Logger

    var engine: Engine
    var effects = Effects()
    var decoder: RequestDecoder
    private var clock: ServiceClock

    /// By slot of the stream.
    var connections: [Connection] = []
    var deadlines: TimingWheel
    /// When bytes of each connection last arrived.
    var heard = HeardTable.Writer(HeardTable())
    /// What had come in by then has been taken in.
    var heardUpTo: Mono
    /// Slots that have something to write, or more frames in their splitter.
    var dirty: [UInt32] = []
    var resumable: [UInt32] = []
    /// How many more frames the connection whose turn it is may have carried out.
    var turnWorkLeft = 0
    /// Questions about the service, in the order in which they came.
    var questions: [Question] = []
    /// Events that connections have not taken, to be reported to the engine.
    var missed: [MissedEvent] = []
    /// Connections that have ended while effects were being carried out.
    var lost: [LostConnection] = []
    var pool = BufferPool()
    /// The frames that outboxes share.
    var frames: SharedFrames
    /// Has tokens judged elsewhere; nil: nobody does.
    var judges: (any Judging)?
    /// Tokens that are being judged.
    var inquiriesUnderWay = 0
    var addresses: AddressBook
    /// Connections from this process.
    var internalCount = 0
    /// Connections beyond a limit that are being told so.
    var turnedAwayCount = 0
    /// Connections beyond a limit that were closed in this turn.
    var dismissedCount = 0
    /// The rate limit of logins.
    var logins = TokenBucket()
    var failedLogins: FailedLogins
    /// When clients that were rejected are expected to reconnect.
    var returns = TokenBucket()
    var jitter = SplitMix64(seed: 0)
    /// The memory in use when it was last measured, and when it is measured next.
    var memoryBytes: UInt64 = 0
    var memory = MemoryWatch()
    var memoryCheck = MemoryCheck.none
    /// The counters at the last measurement.
    var memoryActivity = MemoryActivity()
    var memoryCheckAt = Mono(milliseconds: 0)
    /// Bytes that sockets have not accepted yet.
    var bytesBlocked = 0
    /// Bytes in outboxes behind them.
    var bytesHeldBack = 0
    /// Frames of large fan-outs in progress.
    var kept: [FanOutID: [UInt8]] = [:]
    /// The frame that is being sent to many connections.
    var frame: [UInt8] = []
    /// Its event in `effects`.
    var framedEvent: Int?
    /// The feed, while it has readers or had one recently.
    var feed: Feed?
    var submissions: [Submission] = []
    var counters = ServiceCounters()
    var loopTimes = LoopTimes()
    var rates: Rates
    /// Connections that have not read everything they were sent.
    var slow: [SlowConnection] = []
    /// When the service started, by its own clocks.
    let begun: Moment

    private(set) var phase = Phase.starting
    private(set) var ready: () -> Void = {}
    /// Why the service ended before it was told to.
    var refusal: ServiceRefusal?

    /// How far the service has come.
    enum Phase: Equatable {
        /// The first block of numbers is not yet durable. To: `serving`, `stopped`.
        case starting
        /// To: `stopping`.
        case serving
        /// No new requests; those under way are being answered. To: `farewell`.
        case stopping
        /// Every connection has been told; the last ones are closing. To: `stopped`.
        case farewell
        case stopped

        func mayBecome(_ next: Phase) -> Bool {
            switch (self, next) {
            case (.starting, .serving), (.starting, .stopped): true
            case (.serving, .stopping), (.stopping, .farewell), (.farewell, .stopped): true
            default: false
            }
        }
    }

    /// Goes on to another phase.
    mutating func enter(_ next: Phase) {
        precondition(phase.mayBecome(next), "a service that is \(phase) becomes \(next)")
        phase = next
    }

    init(
        _ configuration: Configuration, engine: consuming Engine, clock: ServiceClock,
        loop: Network, store: Disk, logger: Logger, seed: UInt64, feed log: FeedLog? = nil
    ) {
        self.configuration = configuration
        self.engine = engine
        self.clock = clock
        self.loop = loop
        self.store = store
        self.logger = logger
        addresses = AddressBook(seed: seed)
        failedLogins = FailedLogins(seed: seed)
        jitter = SplitMix64(seed: seed)
        decoder = RequestDecoder(limits: configuration.engine.limits)
        frames = SharedFrames(configuration.connection.shares)
        let begin = clock.shifted(loop.monotonicMilliseconds)
        deadlines = TimingWheel(now: begin)
        heardUpTo = Mono(milliseconds: begin)
        rates = Rates(begun: heardUpTo)
        begun = self.clock.moment(mono: loop.monotonicMilliseconds, wall: loop.wallMilliseconds)
        if let log { goOnWithFeed(log, at: heardUpTo) }
    }

    /// Applies what a reload may change of another configuration. Connections above a new limit are
    /// kept.
    mutating func apply(_ new: Configuration) {
        configuration.reload(from: new)
        configuration.checkRelations()
        engine.apply(configuration.engine)
        decoder.apply(configuration.engine.limits)
    }

    /// The current time by both clocks.
    mutating func now() -> Moment {
        clock.moment(mono: loop.monotonicMilliseconds, wall: loop.wallMilliseconds)
    }

    /// Arms the loop's timer for a time by the service's clock, which may be shifted.
    mutating func armTimer(at deadline: Mono?) {
        loopTimes.awaited = nil
        guard let deadline else { return loop.disarmTimer() }
        // A deadline that has passed already fires in the next turn, by design.
        if deadline > heardUpTo { loopTimes.awaited = deadline }
        loop.armTimer(atMonotonicMilliseconds: clock.unshifted(deadline.milliseconds))
    }

    /// Makes the first block of numbers durable; clients are accepted when it is.
    mutating func begin(cleaning: Cleaning = .ofExpired, ready: @escaping () -> Void) {
        self.ready = ready
        _ = engine.begin(into: &effects)
        let now = now()
        if cleaning == .ofExpired {
            submissions.append(
                Submission(write: .removeExpired(before: now.wall.milliseconds)))
        }
        carryOut(at: now)
        submit()
    }

    /// Whether expired rows are removed from the store at startup.
    enum Cleaning {
        case ofExpired
        /// The clock may be wrong: nothing is removed that would still be valid by the correct
        /// time.
        case none
    }

    /// The connection in a slot, if `id` is its current id.
    func slot(of id: StreamID) -> Int? {
        let slot = Int(id.slot)
        guard slot < connections.count, connections[slot].phase != .free,
            connections[slot].id == id
        else { return nil }
        return slot
    }

    func slot(of connection: ConnectionID) -> Int? {
        slot(of: StreamID(slot: connection.slot, generation: connection.generation))
    }
}

/// A connection that has not read everything it was sent.
struct SlowConnection {
    var slot: UInt32
    /// Since when.
    var since: Mono
}

/// An event that a connection has not taken, to be reported to the engine.
struct MissedEvent {
    var connection: ConnectionID
    var topic: TopicHandle
    var seq: UInt64
}

/// A connection whose session has ended, to be reported to the engine.
struct LostConnection {
    var id: ConnectionID
    var end: ConnectionEnd
    /// When bytes of it last arrived.
    var lastHeard: Mono
    /// Bytes that it was sent and has not read.
    var unsentBytes: Int
}

extension ConnectionID {
    /// The engine identifies connections by the ids of the loop's streams.
    init(_ id: StreamID) {
        self.init(slot: id.slot, generation: id.generation)
    }
}
