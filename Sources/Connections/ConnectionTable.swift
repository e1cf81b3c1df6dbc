// The connections of a loop: their slots, outboxes, deadlines and queues, whatever protocol they
// speak and whatever they are sent. Bytes go in, and to sockets out; no function knows the time
// but by an argument.
//
// What there may be of one client in memory has limits (`OutputLimits`), and what all of them have
// is summed up here.

import Containers
public import EventLoop
public import Outboxes
public import PresenceCore

/// The connections of a loop, by slot of the stream. For the loop's thread.
///
/// Functions take the slot of a connection that has not been freed, unless they say otherwise.
public struct ConnectionTable: ~Copyable {
    let sockets: any Sockets
    /// What outboxes may hold.
    public var limits: OutputLimits
    var slots: [Connection] = []
    var deadlines: TimingWheel
    /// When bytes of each connection last arrived.
    var heard: HeardTable.Writer
    /// Connections that have something to write.
    var dirty = FlushQueue()
    /// Connections whose input waits for a later turn.
    var resumable = ResumeQueue()
    var pool = BufferPool()
    /// The frames that outboxes share.
    var frames: SharedFrames
    /// Reused: for each variant, the frame of the event that is shared.
    var framesOfVariants: [SharedFrames.Frame?]
    /// Reused: receivers that an event could not be shared with.
    var unshared: [UInt32] = []
    /// Bytes that sockets have not accepted yet.
    public internal(set) var bytesBlocked = 0
    /// Bytes in outboxes behind them.
    public internal(set) var bytesHeldBack = 0
    /// Connections that have not read everything they were sent.
    var slow: [SlowConnection] = []

    /// A table without connections. Events have at most `variantCount` encodings.
    public init(
        _ sockets: any Sockets, _ limits: OutputLimits, shares: SharedFrames.Limits,
        heard: HeardTable, variantCount: Int, at now: Mono
    ) {
        self.sockets = sockets
        self.limits = limits
        self.heard = HeardTable.Writer(heard)
        frames = SharedFrames(shares)
        framesOfVariants = Array(repeating: nil, count: max(1, variantCount))
        deadlines = TimingWheel(now: now.milliseconds)
    }

    // MARK: Slots

    /// Slots, used or not.
    public var indices: Range<Int> { slots.indices }

    /// The slot of a stream; nil if it is not there, or no more.
    public func slot(of id: StreamID) -> Int? {
        let slot = Int(id.slot)
        guard slot < slots.count, slots[slot].phase != .free, slots[slot].id == id else {
            return nil
        }
        return slot
    }

    /// The stream in a slot.
    public func id(of slot: Int) -> StreamID { slots[slot].id }

    /// The phase of the connection in a slot.
    public func phase(of slot: Int) -> ConnectionPhase { slots[slot].phase }

    /// Begins a connection, which has not logged in. Returns its slot.
    public mutating func open(_ id: StreamID) -> Int {
        let slot = Int(id.slot)
        while slots.count <= slot {
            slots.append(Connection(id: StreamID(slot: 0, generation: 0)))
        }
        precondition(slots[slot].phase == .free, "a slot that is still in use")
        slots[slot].reset(for: id)
        heard.reserve(id.slot)
        slots[slot].enter(.anonymous)
        return slot
    }

    /// A connection has logged in.
    public mutating func beginServing(_ slot: Int) {
        slots[slot].enter(.serving)
        clearDeadline(of: slot)
    }

    /// The peer has stopped sending: what it asked for last is still answered.
    public mutating func beginEnding(_ slot: Int) { slots[slot].enter(.ending) }

    /// Nothing is carried out for a connection any more; what is in its outbox is still written.
    public mutating func beginClosing(_ slot: Int) {
        slots[slot].enter(.closing)
        stopServing(slot)
    }

    private mutating func stopServing(_ slot: Int) {
        slots[slot].input = InputState()
        slots[slot].list = ListProgress()
        slots[slot].output.blocked?.unwatch(in: &deadlines)
        deadlines.clear(&slots[slot].silence.deadline)
        deadlines.clear(&slots[slot].token.deadline)
    }

    /// Closes the stream of a connection at once.
    public func closeStream(of slot: Int) { sockets.close(slots[slot].id) }

    /// Frees the slot of a connection whose stream is closed.
    public mutating func free(_ slot: Int) {
        stopServing(slot)
        clearDeadline(of: slot)
        unblock(slot)
        forgetHeldBack(slot)
        frames.empty(&slots[slot].output.outbox, to: &pool)
        slots[slot].reset(for: slots[slot].id)
    }

    // MARK: What their owner keeps of them

    /// What is at the other end of a connection.
    public func peer(of slot: Int) -> ConnectionPeer { slots[slot].peer }

    /// Notes what is at the other end of a connection.
    public mutating func setPeer(of slot: Int, _ peer: ConnectionPeer) { slots[slot].peer = peer }

    /// The network that a connection counts for.
    public func address(of slot: Int) -> ConnectionsPerNetwork.Entry { slots[slot].address }

    /// Notes the network that a connection counts for.
    public mutating func setAddress(of slot: Int, _ address: ConnectionsPerNetwork.Entry) {
        slots[slot].address = address
    }

    /// The encoding of events that a connection is sent.
    public func variant(of slot: Int) -> EventVariant { slots[slot].variant }

    /// Has a connection sent another encoding of events from now on, with its own text in the
    /// gaps of their frames.
    public mutating func setVariant(
        of slot: Int, _ variant: EventVariant, gapText: [UInt8] = []
    ) {
        precondition(Int(variant.number) < framesOfVariants.count, "a variant without a place")
        precondition(gapText.count <= UInt16.max, "a text that is too long for a frame")
        slots[slot].variant = variant
        slots[slot].gapText = gapText
        slots[slot].gapTextBytes = UInt16(gapText.count)
    }

    /// What fills the gaps of frames that a connection shares.
    public func gapText(of slot: Int) -> [UInt8] { slots[slot].gapText }

    /// What a connection is sent piece by piece.
    public func list(of slot: Int) -> ListProgress { slots[slot].list }

    /// Changes what a connection is sent piece by piece.
    public mutating func updateList(of slot: Int, _ change: (inout ListProgress) -> Void) {
        change(&slots[slot].list)
    }
}

/// What outboxes of a loop may hold, and for how long.
public struct OutputLimits: Sendable {
    /// Bytes of events that may wait for one client.
    public var outboxBytesMax: Int
    /// Bytes in the outbox of a client that does not read, what must not be dropped included.
    public var backlogBytesMax: Int
    /// Bytes in all that may wait for clients that do not read.
    public var bytesInAllMax: Int
    /// Bytes that the kernel keeps for each of them, which count, too.
    public var socketBytes: Int
    /// Seconds within which a client that has data to read must have read some of it.
    public var progressSeconds: Int
    /// Outboxes that are written in a turn, if more have something to write.
    public var outboxesPerTurn: Int
    /// At least this fraction (1/n) of the waiting outboxes is written in a turn.
    public var flushFraction: Int

    /// These limits.
    public init(
        outboxBytesMax: Int, backlogBytesMax: Int, bytesInAllMax: Int, socketBytes: Int,
        progressSeconds: Int, outboxesPerTurn: Int, flushFraction: Int
    ) {
        self.outboxBytesMax = outboxBytesMax
        self.backlogBytesMax = backlogBytesMax
        self.bytesInAllMax = bytesInAllMax
        self.socketBytes = socketBytes
        self.progressSeconds = progressSeconds
        self.outboxesPerTurn = outboxesPerTurn
        self.flushFraction = flushFraction
    }
}

/// A connection that has not read everything it was sent.
struct SlowConnection {
    var slot: UInt32
    /// Since when.
    var since: Mono
}
