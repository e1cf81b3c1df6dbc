import PresenceCore

/// Asks every connection loop whether it has read what had arrived.
///
/// A process that was suspended wakes up with deadlines that are long over, while the kernel may
/// hold what clients have sent meanwhile: a device that has connected again within its grace, for
/// instance. On one thread, a deadline therefore fires only when the sockets have been polled
/// since. Here the engine host cannot know that, and to ask before each deadline would wake every
/// loop. So it asks when a deadline is due and the engine host was not called in time, whether it
/// waited or was busy before. Two rounds of two turns: in the first a connection is accepted and
/// handed to its loop, in the second it is adopted there, and read from.
struct RollCall {
    /// A call that comes later by as much is late.
    static let lateMilliseconds: UInt64 = 100
    /// A loop that answers later is not waited for. A stalled one is not asked.
    static let waitMilliseconds: UInt64 = 1_000
    private static let roundsMax = 2

    private var number: UInt64 = 0
    private var roundsLeft = 0
    private var missing = 0
    private var end = Mono(milliseconds: 0)

    /// Whether an answer is missing. Until then, deadlines do not fire.
    var isUnderWay: Bool { roundsLeft > 0 }

    /// When it ends in any case.
    var deadline: Mono? { isUnderWay ? end : nil }

    /// Whether the roll is to be called: the engine has something due, and the engine host was not
    /// called in time. What is due may be another deadline than the one that was waited for.
    static func isNeeded(awaited: Mono?, engineDeadline: Mono?, at now: Mono) -> Bool {
        guard let awaited, let engineDeadline, engineDeadline <= now else { return false }
        return awaited.advanced(byMilliseconds: lateMilliseconds) <= now
    }

    /// Begins, and returns the number of the first round.
    mutating func begin(loops count: Int, at now: Mono) -> UInt64 {
        roundsLeft = Self.roundsMax
        end = now.advanced(byMilliseconds: Self.waitMilliseconds)
        return beginRound(count)
    }

    private mutating func beginRound(_ count: Int) -> UInt64 {
        number += 1
        missing = count
        return number
    }

    /// Notes the answer of a loop. Returns the number of the next round, if one begins.
    mutating func note(_ number: UInt64, loops count: Int) -> UInt64? {
        guard isUnderWay, number == self.number else { return nil }
        missing -= 1
        guard missing == 0 else { return nil }
        roundsLeft -= 1
        return isUnderWay ? beginRound(count) : nil
    }

    /// Ends it if it has waited too long.
    mutating func checkEnd(at now: Mono) {
        if isUnderWay, end <= now { roundsLeft = 0 }
    }
}

extension EngineHost {
    /// The connection loops that work.
    private var workingLoopCount: Int { loops.count - stalledLoops.count }

    /// Asks every connection loop that works whether it has read what had arrived.
    mutating func callRoll(at now: Mono) {
        guard workingLoopCount > 0 else { return }
        callRoll(rollCall.begin(loops: workingLoopCount, at: now))
    }

    /// A loop has read what had arrived when it was asked.
    mutating func noteReadUp(_ number: UInt64) {
        guard let next = rollCall.note(number, loops: workingLoopCount) else { return }
        callRoll(next)
    }

    private mutating func callRoll(_ number: UInt64) {
        output.appendToAll(.callRoll(number), omitting: stalledLoops)
    }
}
