/// Whether a connection is read from.
struct InputState {
    /// Whether it is read from.
    private(set) var reading = Reading.current
    /// Whether it is above its rate limit, and is not read from for a while.
    var isThrottled = false
    /// Whether the peer sends no more: its end comes when what it has sent is carried out.
    var hasEnded = false
    /// Whether it is in the queue of connections whose input waits.
    private(set) var isResumable = false

    /// Whether a connection is read from.
    enum Reading: UInt8 {
        /// It is: bytes are read as they arrive.
        case current
        /// It is not; its input stays in the kernel. To: `catchingUp`.
        case paused
        /// It is again: what is read next may have arrived long ago. To: `current`, `paused`.
        case catchingUp
    }

    /// Whether it is not read from.
    var isPaused: Bool { reading == .paused }

    /// It is not read from any more.
    mutating func pause() { reading = .paused }

    /// It is read from again, if it was not. Returns whether it was not.
    mutating func resume() -> Bool {
        guard isPaused else { return false }
        reading = .catchingUp
        return true
    }

    /// Everything that had arrived has been read.
    mutating func caughtUp() {
        if reading == .catchingUp { reading = .current }
    }

    /// Notes that some of its input waits. Returns whether it has to be added to the queue.
    mutating func markResumable() -> Bool {
        guard !isResumable else { return false }
        isResumable = true
        return true
    }

    /// It has been taken from the queue. Returns whether it was still to be resumed.
    mutating func unmarkResumable() -> Bool {
        defer { isResumable = false }
        return isResumable
    }
}
