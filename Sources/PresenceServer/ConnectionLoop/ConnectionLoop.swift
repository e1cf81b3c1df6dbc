// One loop's connections: their sockets, frames and requests on one side, what the engine host has
// for them on the other. The rules of presence are in the engine, not here.
//
// A turn of the loop:
//     bytes → frames → requests → `inbound` → the link                     +Requests
//     the link → `outbound` → frames in outboxes, connections closed        +Output
//     at its end: what is due, then outboxes, each once                     +Turn
//
// A connection has one request in progress at a time: responses come in the order of requests, and
// each request sees the effects of the one before it. Requests that arrive in the meantime wait in
// the connection's splitter, and beyond the size of a frame in the kernel.

import Containers
import EventLoop
import Logging
import Outboxes
import PresenceCore
import PresenceWire

/// Owns the connections of a loop, on the loop's thread.
///
/// It is a value, and there is one for each loop: the compiler proves exclusive access to its
/// properties, which in a class would be looked up and checked at run time on each use.
struct ConnectionLoop<Network: Transport, Link: EngineLink & ~Copyable>: ~Copyable {
    var configuration: Configuration
    let number: LoopNumber
    let loop: Network
    let logger: Logger
    /// The way to the engine host.
    var link: Link
    /// What the engine host has not been handed yet.
    var inbound = Inbound()
    /// Where the link puts what there is to do.
    var outbound = Outbound()
    /// The other buffer for that; nil while it is carried out.
    var spareOutbound: Outbound? = Outbound()

    var decoder: RequestDecoder
    private var clock: ServiceClock

    /// By slot of the stream.
    var connections: [Connection] = []
    var deadlines: TimingWheel
    /// When bytes of each connection last arrived.
    var heard: HeardTable.Writer
    /// Input that had arrived by then has been processed.
    var heardUpTo: Mono
    /// The number with which the roll was called, and the turns until it is answered.
    var readingUp: (number: UInt64, turnsLeft: Int)?
    /// Connections that have something to write.
    var dirty = FlushQueue()
    /// Connections whose input waits for the next turn.
    var resumable = ResumeQueue()
    /// What may still be carried out in this turn.
    var budget = TurnBudget()
    var pool = BufferPool()
    /// The frames that outboxes share.
    var frames: SharedFrames
    /// What there is of XMPP; nil: it is not served.
    var xmpp: XMPPConnections?
    /// The bare JIDs of its clients, beside it: to use `xmpp` retains all that is in it.
    var bareJIDs = BareJIDs()
    /// Reused for presences that many are sent.
    var stanzas = DividedStanzas()
    /// Reused for bodies that many are sent and that are not shared.
    var body: [UInt8] = []
    /// Reused for messages that cannot be read where they arrived: those of a WebSocket are masked.
    var unmasked: [UInt8] = []
    var addresses: AddressBook
    /// The connections of all loops; nil: this is the only one.
    let census: Census?
    /// Connections above a limit that are given time to read the reason.
    var turnedAwayCount = 0
    /// Connections beyond a limit that were closed in this turn.
    var dismissedCount = 0
    var retryDelay: RetryDelay
    /// Bytes that sockets have not accepted yet.
    var bytesBlocked = 0
    /// Bytes in outboxes behind them.
    var bytesHeldBack = 0
    var counters = ServiceCounters()
    var loopTimes = LoopTimes()
    /// Connections that have not read everything they were sent.
    var slow: [SlowConnection] = []

    private(set) var phase = Phase.starting

    /// How far the loop has come.
    enum Phase: Equatable {
        /// It does not accept connections. To: `serving`, `stopped`.
        case starting
        /// To: `farewell`.
        case serving
        /// Every connection is being closed. To: `finished`.
        case farewell
        /// There is no connection any more. To: `stopped`.
        case finished
        case stopped

        func mayBecome(_ next: Phase) -> Bool {
            switch (self, next) {
            case (.starting, .serving), (.starting, .stopped): true
            case (.serving, .farewell), (.farewell, .finished), (.finished, .stopped): true
            // The engine host has abandoned a loop that is stalled, or slow to close.
            case (.farewell, .stopped): true
            default: false
            }
        }
    }

    /// Goes on to another phase.
    mutating func enter(_ next: Phase) {
        precondition(phase.mayBecome(next), "a loop that is \(phase) becomes \(next)")
        phase = next
    }

    init(
        _ configuration: Configuration, number: LoopNumber = .only, link: consuming Link,
        clock: ServiceClock, loop: Network, heard: HeardTable, census: Census? = nil,
        logger: Logger, seed: UInt64
    ) {
        self.configuration = configuration
        self.number = number
        self.link = link
        self.clock = clock
        self.loop = loop
        self.logger = logger
        self.heard = HeardTable.Writer(heard)
        addresses = AddressBook(seed: seed)
        self.census = census
        retryDelay = RetryDelay(seed: seed)
        decoder = RequestDecoder(limits: configuration.engine.limits)
        frames = SharedFrames(configuration.connection.shares)
        let begin = clock.shifted(loop.monotonicMilliseconds)
        deadlines = TimingWheel(now: begin)
        heardUpTo = Mono(milliseconds: begin)
        xmpp = XMPPConnections(configuration, at: heardUpTo)
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

    /// The connection in a slot, if `id` is its current id.
    func slot(of id: StreamID) -> Int? {
        let slot = Int(id.slot)
        guard slot < connections.count, connections[slot].phase != .free,
            connections[slot].id == id
        else { return nil }
        return slot
    }

    func slot(of connection: ConnectionID) -> Int? {
        slot(of: number.stream(connection))
    }

    /// The name that the engine knows of the connection in a slot.
    func connectionID(_ slot: Int) -> ConnectionID {
        number.connection(connections[slot].id)
    }
}

/// A connection that has not read everything it was sent.
struct SlowConnection {
    var slot: UInt32
    /// Since when.
    var since: Mono
}
