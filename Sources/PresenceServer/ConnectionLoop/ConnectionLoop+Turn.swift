import Connections
import Containers
import EventLoop
import PresenceCore

// The end of a turn, when all input that has arrived in it has been processed.
//
// A deadline fires only when the sockets have been polled since it was due. A process that was
// suspended wakes up in that poll, which then reports nothing (EINTR, or a timeout that is long
// over), although the kernel may hold what clients have sent meanwhile. So a deadline that comes
// while the loop waits makes one more turn, without waiting, and is checked at its end.

extension ConnectionLoop where Link: ~Copyable {
    mutating func turnEnded() {
        guard phase != .stopped else { return }
        assertAtRest()
        let now = now()
        noteLag(at: now.mono)
        meetDeadlines(at: now)
        resume(at: now)
        link.advance(to: now, heardUpTo: heardUpTo, into: &outbound)
        carryOut(at: now)
        exchange(at: now)
        flush(at: now)
        // Before the loop frees the slots of those that could not be written to.
        exchange(at: now)
        endLinkTurn(at: now)
        exchange(at: now)
        if phase == .farewell, loop.streamCount == 0 {
            enter(.finished)
            clients.inbound.append(.finished)
            exchange(at: now)
            // The loop has nothing else to wait for: no other turn would hand this over.
            endLinkTurn(at: now)
        }
        assertTurnEnded()
        heardUpTo = clients.table.heard(at: now.mono, before: heardUpTo)
        guard phase != .stopped else { return }
        // A list that is not complete, or a splitter that is not empty, waits for its next share.
        let hasMore = clients.table.hasOutput || clients.table.hasInput
        armTimer(at: hasMore ? now.mono : nextDeadline(at: now))
        endTurn()
    }

    private mutating func endLinkTurn(at now: Moment) {
        link.endTurn(at: now, clients.table.progress, into: &outbound)
        carryOut(at: now)
    }

    private mutating func meetDeadlines(at now: Moment) {
        while let (kind, slot) = clients.table.popDue(now: heardUpTo) {
            switch kind {
            case .phase: clients.phaseEnded(of: slot)
            case .progress: clients.checkProgress(of: slot)
            case .throttle: clients.throttleEnded(of: slot)
            case .token: if clients.table.tokenExpired(slot) { clients.tokenEnded(of: slot) }
            case .silence: clients.silenceSuspected(of: slot, at: now)
            }
        }
        exchange(at: now)
    }

    private func nextDeadline(at now: Moment) -> Mono? {
        let own = clients.table.nextDeadline
        guard let hosts = link.nextDeadline(at: now) else { return own }
        return own.map { min($0, hosts) } ?? hosts
    }

    // MARK: Its duration

    /// Notes that an event has arrived. The first one begins the turn.
    mutating func beginTurn() {
        if loopTimes.turnBegan == nil { loopTimes.turnBegan = loop.monotonicNanoseconds }
    }

    /// Records the duration of the turn that ends now.
    private mutating func endTurn() {
        guard let began = loopTimes.turnBegan else { return }
        loopTimes.turnBegan = nil
        loopTimes.turns.observe(microseconds: (loop.monotonicNanoseconds - began) / 1_000)
    }

    /// Records how late the loop is for the deadline it waited for, if that deadline has passed.
    private mutating func noteLag(at now: Mono) {
        guard let awaited = loopTimes.awaited, awaited <= now else { return }
        loopTimes.awaited = nil
        loopTimes.lag.observe(
            microseconds: (now.milliseconds - awaited.milliseconds) * 1_000)
    }

    // MARK: What must hold

    /// Asserts what holds whenever the loop calls, and when it is given control back.
    func assertAtRest() {
        precondition(outbound.isEmpty, "output that was not carried out")
        clients.table.assertConsistent()
    }

    /// Asserts what holds at the end of a turn besides.
    func assertTurnEnded() {
        assertAtRest()
        precondition(clients.inbound.isEmpty, "input that the engine host was not handed")
    }

    /// Traps unless the tables agree with each other, at the end of a turn. O(connections).
    func checkInvariants() {
        assertTurnEnded()
        clients.checkInvariants()
    }
}
