import Containers
import EventLoop
import PresenceCore
import PresenceStore

// The end of a turn, when everybody who spoke in it has been heard.
//
// A deadline is met only when the sockets have been looked at since it came. A process that has
// stood still wakes up in the wait for them, with nothing from it (EINTR, or a timeout that is
// long over), although the kernel may hold what everybody has said meanwhile. So a deadline that
// comes while the loop waits makes one more turn, without waiting, and is judged at its end.

extension Reactor {
    mutating func turnEnded() {
        guard phase != .stopped else { return }
        assertAtRest()
        let now = now()
        noteLag(at: now.mono)
        var isMoreDue = false
        if let wake = engineDeadline, wake <= heardUpTo {
            let progress = engine.advance(
                to: now, deadlinesMax: configuration.connection.deadlinesPerTurn, into: &effects)
            isMoreDue = progress == .moreIsDue
            carryOut(at: now)
        }
        let fanOuts = engine.continueFanOuts(
            watchersMax: configuration.connection.watchersPerTurn,
            receiversMax: configuration.connection.receiversPerTurn, into: &effects)
        if fanOuts == .moreIsDue { isMoreDue = true }
        carryOut(at: now)
        meetDeadlines(at: now)
        answerNextQuestion(at: now)
        resume(at: now)
        submit()
        wakeFeedReaders()
        flush(at: now)
        // Before the loop frees the slots of those that could not be written to.
        reportLost(at: now)
        submit()
        goOnStopping()
        assertTurnEnded()
        scheduleMemoryCheck(at: now.mono)
        heardUpTo = now.mono
        noteRates(at: now)
        guard phase != .stopped else { return }
        // A list that is not complete, or a splitter that is not empty, waits for its next share.
        let hasMore =
            isMoreDue || !dirty.isEmpty || !resumable.isEmpty || !lost.isEmpty
            || !questions.isEmpty
        armTimer(at: hasMore ? now.mono : nextDeadline)
        endTurn()
    }

    /// When the engine will have something to do. Nothing, before clients can come and once
    /// everybody is being sent away: nobody's session is judged then.
    private var engineDeadline: Mono? {
        phase == .serving || phase == .stopping ? engine.nextWake : nil
    }

    private var nextDeadline: Mono? {
        let own = deadlines.nextWake.map { Mono(milliseconds: $0) }
        guard let engines = engineDeadline else { return own }
        return own.map { min($0, engines) } ?? engines
    }

    /// Hands the turn's writes to the store.
    mutating func submit() {
        guard !submissions.isEmpty else { return }
        store.submit(submissions)
        submissions.removeAll(keepingCapacity: true)
    }

    mutating func markDirty(_ slot: Int) {
        guard !connections[slot].state.contains(.isDirty) else { return }
        connections[slot].state.insert(.isDirty)
        dirty.append(UInt32(slot))
    }
}
