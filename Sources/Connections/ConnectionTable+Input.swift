import EventLoop
public import PresenceCore

// Whether connections are read from, and the queue of those whose input waits for a later turn.

extension ConnectionTable {
    /// Begins to read from a new connection.
    public func startReading(_ slot: Int) { sockets.startReading(slots[slot].id) }

    /// Leaves what a connection sends in the kernel.
    public mutating func pauseReading(_ slot: Int) {
        slots[slot].input.pause()
        sockets.stopReading(slots[slot].id)
    }

    /// Reads from a connection again, if it was paused.
    public mutating func resumeReading(_ slot: Int) {
        if slots[slot].input.resume() { sockets.startReading(slots[slot].id) }
    }

    /// Whether a connection is not read from.
    public func isPaused(_ slot: Int) -> Bool { slots[slot].input.isPaused }

    /// Whether a connection is above its rate limit.
    public func isThrottled(_ slot: Int) -> Bool { slots[slot].input.isThrottled }

    /// Whether the peer of a connection sends no more.
    public func hasInputEnded(_ slot: Int) -> Bool { slots[slot].input.hasEnded }

    /// Notes that the peer of a connection sends no more.
    public mutating func noteInputEnd(of slot: Int) { slots[slot].input.hasEnded = true }

    // MARK: Input that waits

    /// Whether the input of a connection waits for a later turn.
    public func isResumable(_ slot: Int) -> Bool { slots[slot].input.isResumable }

    /// Has a later turn continue reading a connection, unless one will already.
    public mutating func postpone(_ slot: Int, isLight: Bool) {
        precondition(slots[slot].phase.isOpen, "input of a connection that is not read from")
        if slots[slot].input.markResumable() { resumable.append(slot, isLight: isLight) }
    }

    /// Connections that wait and have sent little.
    public var lightCount: Int { resumable.light.count }

    /// Takes the first of those that have sent little, and whether it is still to be resumed; nil:
    /// none.
    public mutating func takeLight() -> (slot: Int, isDue: Bool)? {
        resumable.takeLight().map { ($0, slots[$0].input.unmarkResumable()) }
    }

    /// Takes the first of those that have sent much, as `takeLight`.
    public mutating func takeHeavy() -> (slot: Int, isDue: Bool)? {
        resumable.takeHeavy().map { ($0, slots[$0].input.unmarkResumable()) }
    }

    /// Whether the input of connections waits.
    public var hasInput: Bool { !resumable.isEmpty }

    /// Removes the connections that were taken.
    public mutating func endResuming() { resumable.compact() }

    /// Up to when everything that had arrived was carried out, at the end of a turn; `before` at
    /// the end of the one before.
    public mutating func heard(at now: Mono, before: Mono) -> Mono {
        resumable.heard(at: now, before: before)
    }
}
