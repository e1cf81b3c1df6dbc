import Containers
import EventLoop
import PresenceCore
import PresenceStore

// The end of a turn, when everybody who spoke in it has been heard.

extension Reactor {
    func turnEnded() {
        guard phase != .stopped else { return }
        let now = now()
        if hasOverslept(at: now) {
            // The process was stopped, or the machine. Those whose bytes wait in the kernel are
            // heard before their silence is judged: in the next turn, which begins at once.
            flush(at: now)
            submit()
            return armTimer(at: now.mono)
        }
        var isMoreDue = false
        if let wake = engine.nextWake, wake <= now.mono {
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
        resume(at: now)
        submit()
        flush(at: now)
        // Before the loop frees the slots of those that could not be written to.
        reportLost(at: now)
        goOnStopping()
        guard phase != .stopped else { return }
        // A list that is not complete, or a splitter that is not empty, waits for its next share.
        let hasMore = isMoreDue || !dirty.isEmpty || !resumable.isEmpty || !lost.isEmpty
        armTimer(at: hasMore ? now.mono : nextDeadline)
        expectedWake = nextDeadline
    }

    /// Whether what was to be done next is late by far more than a turn takes; once a time.
    private func hasOverslept(at now: Moment) -> Bool {
        guard let expected = expectedWake else { return false }
        expectedWake = nil
        return expected.advanced(byMilliseconds: Self.oversleptMilliseconds) < now.mono
    }

    private var nextDeadline: Mono? {
        let own = deadlines.nextWake.map { Mono(milliseconds: $0) }
        guard let engines = engine.nextWake else { return own }
        return own.map { min($0, engines) } ?? engines
    }

    /// Hands the turn's writes to the store.
    func submit() {
        guard !submissions.isEmpty else { return }
        store.submit(submissions)
        submissions.removeAll(keepingCapacity: true)
    }

    func markDirty(_ slot: Int) {
        guard !connections[slot].state.contains(.isDirty) else { return }
        connections[slot].state.insert(.isDirty)
        dirty.append(UInt32(slot))
    }
}
