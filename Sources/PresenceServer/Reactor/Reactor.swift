// Where everything meets: the loop tells what has happened to sockets, the engine what is to
// be done, the store what is durable. No rule of presence lives here.
//
// A turn of the loop:
//     bytes → frames → requests → commands → engine → effects        Reactor+Requests, +Edge
//     effects → frames in outboxes, writes for the store             Reactor+Effects, +Records
//     outcomes of the store → engine → effects                       Reactor+Streams
//     at its end: what is due, the store's batch, every outbox once  Reactor+Turn
//
// A connection has one request under way at a time: answers come in the order of requests, and
// each request finds the one before it carried out. What it sends meanwhile waits in its
// splitter, and beyond a frame's worth in the kernel.

import Containers
import EventLoop
import Logging
import Outboxes
import PresenceCore
import PresenceStore
import PresenceWire

/// The owner of the engine and its sockets, on the loop's thread.
///
/// A value, of which there is one: what would be looked up and checked for overlaps at each use
/// of each property of an object is known to the compiler here.
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
    /// What had come in by then has been taken in.
    var heardUpTo: Mono
    /// Slots that have something to write, or more to read from their splitter.
    var dirty: [UInt32] = []
    var resumable: [UInt32] = []
    /// How many more frames the connection whose turn it is may have carried out.
    var turnWorkLeft = 0
    /// Connections that have ended while effects were being carried out.
    var lost: [LostConnection] = []
    var pool = BufferPool()
    /// What outboxes share.
    var frames: SharedFrames
    /// Has tokens judged elsewhere; nil: nobody does.
    var judges: TokenJudges?
    /// Tokens that are being judged.
    var inquiriesUnderWay = 0
    var addresses: AddressBook
    /// Connections from this process.
    var internalCount = 0
    /// Connections beyond a limit that are being told so.
    var turnedAwayCount = 0
    /// What logins may be carried out now.
    var logins = TokenBucket()
    /// When those who were sent away are expected back.
    var returns = TokenBucket()
    var jitter = SplitMix64(seed: 0)
    /// What the process had in memory when that was last looked at, and when it is next.
    var memoryBytes: UInt64 = 0
    var memoryCheckAt = Mono(milliseconds: 0)
    /// Bytes that sockets have not taken yet.
    var bytesBlocked = 0
    /// Bytes in the outboxes of those whose sockets have not.
    var bytesHeldBack = 0
    /// Frames of large fan-outs that are under way.
    var kept: [FanOutID: [UInt8]] = [:]
    /// The frame that is being sent to many.
    var frame: [UInt8] = []
    /// Which event of `effects` that is.
    var framedEvent: Int?
    /// While somebody reads the feed, or has lately.
    var feed: Feed?
    var submissions: [Submission] = []
    var counters = ReactorCounters()
    var loopTimes = LoopTimes()
    var rates: Rates
    /// Connections that have not taken what they were sent.
    var slow: [SlowConnection] = []
    /// By slot: where the engine's history notes that a connection is behind.
    var delays: [UInt32: Int] = [:]
    /// When the service began, by its own clocks.
    let begun: Moment

    var phase = Phase.starting
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
        /// Everybody has been told; the last connections are closing. To: `stopped`.
        case farewell
        case stopped
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

    /// Goes on with another configuration: with what of it can change while clients are
    /// connected. Whoever has more than a new limit allows keeps it.
    mutating func apply(_ new: Configuration) {
        let old = configuration
        configuration = new
        // Addresses, files, and what clients and buffers go by already.
        configuration.host = old.host
        configuration.port = old.port
        configuration.dataDirectory = old.dataDirectory
        configuration.durability = old.durability
        configuration.feed = old.feed
        configuration.furtherMetrics = old.furtherMetrics
        let limits = old.engine.limits
        configuration.engine.heartbeatSeconds = old.engine.heartbeatSeconds
        configuration.engine.limits.frameBytesMax = limits.frameBytesMax
        configuration.engine.limits.frameBytesBeforeLoginMax = limits.frameBytesBeforeLoginMax
        configuration.engine.limits.serverFrameBytesMax = limits.serverFrameBytesMax
        engine.apply(configuration.engine)
        decoder.apply(configuration.engine.limits)
    }

    /// What both clocks show now.
    mutating func now() -> Moment {
        clock.moment(mono: loop.monotonicMilliseconds, wall: loop.wallMilliseconds)
    }

    /// Arms the loop's timer for a point of our own, possibly shifted, clock.
    mutating func armTimer(at deadline: Mono?) {
        loopTimes.awaited = nil
        guard let deadline else { return loop.disarmTimer() }
        // One that has come already is met in the next turn, as is meant.
        if deadline > heardUpTo { loopTimes.awaited = deadline }
        loop.armTimer(atMonotonicMilliseconds: clock.unshifted(deadline.milliseconds))
    }

    /// Has the first block of numbers made durable; clients are let in when it is.
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

    /// Whether rows that have run out are removed from the store at the start.
    enum Cleaning {
        case ofExpired
        /// The clock may be wrong: nothing is removed that a right one would bring back.
        case none
    }

    /// The connection in a slot, if `id` is still its name.
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

/// A connection that has not taken what it was sent.
struct SlowConnection {
    var slot: UInt32
    /// Since when.
    var since: Mono
}

/// A connection of a session that has ended, for the engine to learn of.
struct LostConnection {
    var id: ConnectionID
    var end: ConnectionEnd
    /// Bytes that it had been sent and not taken.
    var unsentBytes: Int
}

extension ConnectionID {
    /// The engine calls connections by the names that the loop gives its streams.
    init(_ id: StreamID) {
        self.init(slot: id.slot, generation: id.generation)
    }
}
