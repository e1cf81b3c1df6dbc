import Containers
import Outboxes
public import PresenceCore

/// What a table has measured.
public struct TableMeasurements: Sendable {
    /// Connections that have not read everything they were sent.
    public var slowReaders = 0
    /// Bytes in outboxes, and those of them that are not shared.
    public var outboxBytes = 0, ownOutboxBytes = 0
    /// Bytes of buffers that are not in use.
    public var poolBytesIdle = 0
    /// Memory of shared frames.
    public var sharedFrameBytes = 0
    /// Bytes that sockets have not accepted yet.
    public var bytesBlocked = 0
    /// Bytes in outboxes behind them.
    public var bytesHeldBack = 0
    /// Deadlines that are set.
    public var deadlines = 0

    /// All zero.
    public init() {}
}

/// A connection that has not read everything it was sent.
public struct SlowReader: Sendable {
    /// Its slot.
    public var slot: Int
    /// Since when.
    public var since: Mono
    /// What it has not read: in its outbox, and in the loop.
    public var bytesWaiting: Int
    /// Whether it misses events.
    public var isConflated: Bool
}

extension ConnectionTable {
    /// Measures everything. The cost is proportional to the outboxes that are to be written.
    public func measure() -> TableMeasurements {
        var measured = TableMeasurements()
        measured.slowReaders = slow.count
        measured.outboxBytes = outboxBytes(\.count)
        measured.ownOutboxBytes = outboxBytes(\.bytes.count)
        measured.poolBytesIdle = pool.bytesIdle
        measured.sharedFrameBytes = frames.heapBytes
        measured.bytesBlocked = bytesBlocked
        measured.bytesHeldBack = bytesHeldBack
        measured.deadlines = deadlines.count
        return measured
    }

    /// Bytes in outboxes: those that are to be written, and those behind a blocked write.
    private func outboxBytes(_ count: (Outbox) -> Int) -> Int {
        dirty.waiting.reduce(bytesHeldBack) { sum, slot in
            // After a drain, the rest of an outbox counts as held back until it is written.
            let output = slots[Int(slot)].output
            return sum + count(output.outbox) - output.bytesHeldBack
        }
    }

    /// Bytes that a client has not read: in its outbox, and in the loop.
    public func bytesWaiting(for slot: Int) -> Int {
        let pending = isBlocked(slot) ? sockets.bytesPending(slots[slot].id) : 0
        return pending + slots[slot].output.outbox.count
    }

    /// Those that have the most to read yet, of the first ten thousand that have anything.
    public func slowest(countMax: Int) -> [SlowReader] {
        slow.prefix(10_000).map { reader in
            let slot = Int(reader.slot)
            return SlowReader(
                slot: slot, since: reader.since, bytesWaiting: bytesWaiting(for: slot),
                isConflated: slots[slot].list.isConflated)
        }.greatest(countMax) { first, second in
            first.isConflated == second.isConflated
                ? first.bytesWaiting < second.bytesWaiting : second.isConflated
        }
    }
}
