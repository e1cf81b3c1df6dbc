import Containers
import EventLoop
import PresenceCore
import PresenceStore

// The end of a turn, when everybody who spoke in it has been heard.

extension Reactor {
    func turnEnded() {
        guard phase != .stopped else { return }
        let now = now()
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

    /// Writes every outbox that has something, once, and gives lists their next share.
    private func flush(at now: Moment) {
        var slots: [UInt32] = []
        swap(&slots, &dirty)
        for slot in slots {
            connections[Int(slot)].state.remove(.isDirty)
            flush(Int(slot), at: now)
        }
        if dirty.isEmpty {
            slots.removeAll(keepingCapacity: true)
            swap(&slots, &dirty)
        }
    }

    private func flush(_ slot: Int, at now: Moment) {
        var framesLeft = configuration.connection.listFramesPerTurn
        while write(slot) {
            guard connections[slot].state.contains(.isListing) else {
                if connections[slot].phase == .closing {
                    loop.closeAfterWrites(connections[slot].id)
                }
                return
            }
            guard framesLeft > 0 else { return markDirty(slot) }
            framesLeft -= 1
            engine.continueList(of: ConnectionID(connections[slot].id), at: now, into: &effects)
            carryOut(at: now)
        }
    }

    /// Writes an outbox; whether the socket has taken everything.
    private func write(_ slot: Int) -> Bool {
        guard connections[slot].phase != .free, !connections[slot].state.contains(.isBlocked)
        else { return false }
        guard !connections[slot].outbox.isEmpty else { return true }
        let id = connections[slot].id
        let outcome = unsafe connections[slot].outbox.withUnsafeBytes { unsafe loop.write(id, $0) }
        pool.giveBack(&connections[slot].outbox)
        switch outcome {
        case .written:
            return true
        case .pending:
            connections[slot].state.insert(.isBlocked)
            return false
        case .failed:
            abandon(slot)
            return false
        }
    }

    func markDirty(_ slot: Int) {
        guard !connections[slot].state.contains(.isDirty) else { return }
        connections[slot].state.insert(.isDirty)
        dirty.append(UInt32(slot))
    }
}
