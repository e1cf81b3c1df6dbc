import PresenceCore

/// Up to when deadlines of the engine may fire, if connection loops have threads of their own.
///
/// A process that was suspended wakes up with deadlines that are long over, while the kernel may
/// hold what clients have sent meanwhile: the login of a device that returned within its grace, for
/// instance. On one thread, a deadline fires only when the sockets have been polled since. Here the
/// engine host cannot know that, and to ask the loops before each deadline would wake all of them.
/// So when it is called late, deadlines wait for one second, in which the loops read what has
/// arrived.
struct DeadlineGate {
    /// A turn that begins later by as much is late.
    static let lateMilliseconds: UInt64 = 100
    /// How long deadlines wait after a late turn. Of the time before another late turn, which the
    /// process may have spent suspended, `lateMilliseconds` count.
    static let holdMilliseconds: UInt64 = 1_000

    private struct Hold {
        /// When the late turn began.
        var since: Mono
        /// What was due by then may fire.
        var limit: Mono
        var millisecondsLeft = DeadlineGate.holdMilliseconds
        /// Another turn was late. It does not prolong this hold, which would never end on an
        /// overloaded machine; another hold follows.
        var isLateAgain = false
    }

    /// Everything that had arrived by then has been taken in. Deadlines fire that were due by then.
    private(set) var heardUpTo: Mono
    private var hold: Hold?
    private var lastTurn: Mono
    /// When the next turn was to begin, if not before.
    private var awaited: Mono?

    init(at now: Mono) {
        heardUpTo = now
        lastTurn = now
    }

    /// Begins a turn. Returns how much of the time since the last one does not count, since the
    /// process may have been suspended.
    @discardableResult
    mutating func beginTurn(at now: Mono) -> UInt64 {
        let elapsed = now.milliseconds - min(now.milliseconds, lastTurn.milliseconds)
        let late = now.milliseconds - min(now.milliseconds, awaited?.milliseconds ?? .max)
        let isLate = late >= Self.lateMilliseconds
        let ran = isLate ? min(elapsed, Self.lateMilliseconds) : elapsed
        defer { lastTurn = now }
        guard var current = hold else {
            if isLate { hold = Hold(since: now, limit: lastTurn) }
            return elapsed - ran
        }
        current.millisecondsLeft -= min(current.millisecondsLeft, ran)
        current.isLateAgain = current.isLateAgain || isLate
        if current.millisecondsLeft > 0 {
            hold = current
        } else {
            // What was due when this hold began has waited long enough.
            hold = current.isLateAgain ? Hold(since: now, limit: current.since) : nil
        }
        return elapsed - ran
    }

    /// Ends a turn that has taken in everything that had arrived by `time`.
    mutating func endTurn(heardUpTo time: Mono) {
        heardUpTo = max(heardUpTo, min(time, hold?.limit ?? time))
    }

    /// When a deadline may fire.
    func wake(for deadline: Mono?) -> Mono? {
        guard let deadline, let hold, deadline > hold.limit else { return deadline }
        return max(deadline, lastTurn.advanced(byMilliseconds: hold.millisecondsLeft))
    }

    /// The next turn begins at this time, if not before; nil: when something arrives.
    mutating func wait(until time: Mono?) {
        // What has passed already is not a sign of lateness.
        awaited = time.map { max($0, lastTurn) }
    }
}
