import CLibUV

/// The loop's one deadline.
///
/// libuv's timer is set once per turn at most, and only if the deadline changed.
@safe struct DeadlineTimer {
    let timer: UnsafeMutablePointer<uv_timer_t>
    var wanted: UInt64?
    var armed: UInt64?

    init(_ loop: UnsafeMutablePointer<uv_loop_t>) {
        unsafe timer = .allocate(capacity: 1)
        unsafe uv_timer_init(loop, timer)
    }
}

extension Loop {
    /// Milliseconds of a clock that never jumps, read now; its zero has no meaning.
    public var monotonicMilliseconds: UInt64 { uv_hrtime() / 1_000_000 }

    /// The same clock in nanoseconds, for measuring.
    public var monotonicNanoseconds: UInt64 { uv_hrtime() }

    /// Milliseconds since 1970 UTC by the wall clock, which may jump.
    public static func wallMilliseconds() -> Int64 {
        var now = uv_timeval64_t()
        precondition(unsafe uv_gettimeofday(&now) == 0)
        return now.tv_sec * 1_000 + Int64(now.tv_usec) / 1_000
    }

    /// Calls `timerFired` once, as soon as `monotonicMilliseconds` has reached the deadline.
    ///
    /// Replaces an earlier deadline. Costs a store: the timer is set at the end of the turn, with
    /// the last deadline, and an unchanged one costs nothing. So a deadline that has passed already
    /// fires in the next turn, never within this one: it cannot starve the sockets.
    public func armTimer(atMonotonicMilliseconds deadline: UInt64) {
        deadlineTimer.wanted = deadline
    }

    /// Clears the deadline.
    public func disarmTimer() {
        deadlineTimer.wanted = nil
    }

    func applyTimer() {
        guard deadlineTimer.wanted != deadlineTimer.armed else { return }
        deadlineTimer.armed = deadlineTimer.wanted
        guard let deadline = deadlineTimer.wanted else {
            unsafe uv_timer_stop(deadlineTimer.timer)
            return
        }
        // libuv counts from the time it read at the start of the turn, which may be long ago.
        unsafe uv_update_time(uvLoop)
        let now = unsafe uv_now(uvLoop)
        let wait = deadline > now ? deadline - now : 0
        unsafe uv_timer_start(deadlineTimer.timer, deadlineReached, wait, 0)
    }

    fileprivate func timerFired() {
        // Armed now, but another or no deadline wanted since: the end of this turn sees to it.
        let isWanted = deadlineTimer.wanted == deadlineTimer.armed
        deadlineTimer.armed = nil
        guard isWanted else { return }
        deadlineTimer.wanted = nil
        handler?.timerFired()
    }
}

// MARK: - Trampolines

private func deadlineReached(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    unsafe withLoop(of: timer) { $0.timerFired() }
}
