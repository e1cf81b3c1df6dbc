import Containers
public import Outboxes
public import PresenceCore

// Into outboxes: what is for one connection is appended to its outbox; an event is framed once for
// each variant, and the outboxes share its frames (`SharedFrames`).

extension ConnectionTable {
    // MARK: To one connection

    /// Appends what `encode` appends to the outbox of a connection, which is to be written.
    public mutating func append(to slot: Int, _ encode: (inout [UInt8]) -> Void) {
        markDirty(slot)
        pool.lend(to: &slots[slot].output.outbox)
        encode(&slots[slot].output.outbox.bytes)
    }

    /// Takes the own bytes out of the outbox of a connection, which is to be written: more is to be
    /// appended to them, then `endAppending` called. Meanwhile the table is not to be used.
    ///
    /// For what cannot be appended in a closure, since it is borrowed.
    public mutating func beginAppending(to slot: Int) -> [UInt8] {
        markDirty(slot)
        pool.lend(to: &slots[slot].output.outbox)
        var bytes: [UInt8] = []
        swap(&bytes, &slots[slot].output.outbox.bytes)
        return bytes
    }

    /// Puts back what `beginAppending` has taken out.
    public mutating func endAppending(_ bytes: consuming [UInt8], to slot: Int) {
        precondition(slots[slot].output.outbox.bytes.isEmpty, "an outbox that was used meanwhile")
        slots[slot].output.outbox.bytes = bytes
    }

    /// Writes what `encode` appends at once, as far as the socket accepts it. Nothing may have been
    /// sent before, and nothing may follow.
    public mutating func writeLast(to slot: Int, _ encode: (inout [UInt8]) -> Void) {
        precondition(slots[slot].output.outbox.isEmpty, "a last word after others")
        pool.lend(to: &slots[slot].output.outbox)
        encode(&slots[slot].output.outbox.bytes)
        _ = drain(slot)
    }

    /// Bytes in the outbox of a connection.
    public func outboxBytes(of slot: Int) -> Int { slots[slot].output.outbox.count }

    /// Bytes that a connection alone is sent, in its outbox.
    public func ownBytes(of slot: Int) -> Int { slots[slot].output.outbox.bytes.count }

    /// Bytes that the peer has not been sent.
    public func bytesUnsent(of slot: Int) -> Int { slots[slot].output.bytesUnsent }

    /// Whether the outbox of a connection has less than one that accepts no more events.
    public func hasOutboxRoom(_ slot: Int) -> Bool {
        slots[slot].output.outbox.count < limits.outboxBytesMax
    }

    /// Whether the socket of a connection has not accepted all of the last write.
    public func isBlocked(_ slot: Int) -> Bool { slots[slot].output.isBlocked }

    /// Adds a connection to the queue of those to write to, once.
    public mutating func markDirty(_ slot: Int) {
        if slots[slot].output.markDirty() { dirty.append(UInt32(slot)) }
    }

    /// Counts what was appended to an outbox since it had `before` own bytes, if the socket does
    /// not accept it now. Returns whether that is more than a client may be behind.
    public mutating func countHeldBack(_ slot: Int, since before: Int) -> Bool {
        guard slots[slot].output.isBlocked else { return false }
        let count = slots[slot].output.outbox.bytes.count - before
        bytesHeldBack += count
        slots[slot].output.holdBack(count)
        return slots[slot].output.outbox.count > limits.backlogBytesMax
    }

    // MARK: To many

    /// Shares an event with receivers that keep up. `frame` adds it in the encoding of a variant,
    /// and is asked once for each; nil: it cannot be shared.
    ///
    /// Receivers that it is not shared with are what `takeUnshared` returns next. O(receivers).
    public mutating func share(
        with receivers: ArraySlice<UInt32>,
        _ frame: (EventVariant, inout SharedFrames) -> SharedFrames.Frame?
    ) {
        for index in framesOfVariants.indices { framesOfVariants[index] = nil }
        let outboxBytesMax = limits.outboxBytesMax
        for receiver in receivers {
            let slot = Int(receiver)
            let variant = slots[slot].variant
            let place = Int(variant.number)
            if framesOfVariants[place] == nil { framesOfVariants[place] = frame(variant, &frames) }
            guard let shared = framesOfVariants[place] else {
                unshared.append(receiver)
                continue
            }
            // The common case.
            switch slots[slot].take(shared, of: &frames, upTo: outboxBytesMax) {
            case .taken: continue
            case .takenFirst: dirty.append(receiver)
            case .notSimple: unshared.append(receiver)
            }
        }
    }

    /// Takes the receivers that the last event was not shared with. They are to be given back.
    public mutating func takeUnshared() -> [UInt32] {
        var taken: [UInt32] = []
        swap(&taken, &unshared)
        return taken
    }

    /// Gives back the memory of `takeUnshared`.
    public mutating func giveBack(_ unshared: consuming [UInt32]) {
        precondition(self.unshared.isEmpty, "receivers of two events")
        unshared.removeAll(keepingCapacity: unshared.capacity <= 1 << 16)
        self.unshared = unshared
    }

    // MARK: Room

    /// Whether an outbox accepts an event.
    public enum Room: Sendable {
        case accepts
        /// It is full, or the connection misses events until it has caught up.
        case full
        /// The socket was written to, and is broken: the connection has to be ended.
        case broken
    }

    /// Whether the outbox of a connection that is served accepts an event. To make room, this may
    /// write it.
    public mutating func room(of slot: Int, at now: Mono) -> Room {
        guard !slots[slot].list.isConflated else { return .full }
        if !slots[slot].output.isBlocked {
            if hasOutboxRoom(slot) { return .accepts }
            // A client whose socket accepts everything is not slow: this turn has many events.
            switch write(slot, at: now) {
            case .everything: return .accepts
            case .broken: return .broken
            case .pending: break
            }
        }
        // Pending bytes count, too; above the limit for all, those of slow clients count as full.
        let socketBytes = slow.count * limits.socketBytes
        guard bytesBlocked + bytesHeldBack + socketBytes <= limits.bytesInAllMax else {
            return .full
        }
        return slots[slot].output.bytesUnsent < limits.outboxBytesMax ? .accepts : .full
    }

    /// Notes that a connection has not taken an event: it asks for the newest states when it has
    /// drained.
    public mutating func missed(_ slot: Int) {
        slots[slot].list.missEvent()
        markDirty(slot)
    }
}
