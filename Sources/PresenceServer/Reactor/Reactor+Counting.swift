import Containers
import PresenceCore
import PresenceWire

// What is counted besides the plain counters: nothing here is done for each delivery.

extension Reactor {
    /// Counts a refusal. One of a connection that has not logged in is a login's, unless it says
    /// that it must log in first.
    mutating func count(_ refusal: Refusal, of slot: Int) {
        counters.refusals.count(refusal.reason)
        guard connections[slot].phase == .anonymous, refusal.reason != .notLoggedIn else { return }
        counters.loginsRefused.count(refusal.reason)
    }

    /// Counts a frame that could not be read, or whose parameters were wrong.
    mutating func count(_ fault: RequestFault, of slot: Int) {
        switch fault.cause {
        case .envelope(let envelope): counters.malformed.count(envelope.reason)
        case .refused(let refusal): count(refusal, of: slot)
        }
    }

    /// Counts the end of a connection, the first time that one is noticed.
    mutating func count(_ ending: Ending, of slot: Int) {
        switch connections[slot].phase {
        case .anonymous, .serving: counters.endings.count(ending)
        case .free, .ending, .closing: break
        }
    }

    // MARK: The loop

    /// Notes that something has happened: the turn has begun, unless it has already.
    mutating func beginTurn() {
        if loopTimes.turnBegan == nil { loopTimes.turnBegan = loop.monotonicNanoseconds }
    }

    /// Counts how long a turn took that is over now.
    mutating func endTurn() {
        guard let began = loopTimes.turnBegan else { return }
        loopTimes.turnBegan = nil
        loopTimes.turns.observe(microseconds: (loop.monotonicNanoseconds - began) / 1_000)
    }

    /// Counts how late the loop is for the deadline that it waited for, if that has come.
    mutating func noteLag(at now: Mono) {
        guard let awaited = loopTimes.awaited, awaited <= now else { return }
        loopTimes.awaited = nil
        loopTimes.lag.observe(
            microseconds: (now.milliseconds - awaited.milliseconds) * 1_000)
    }
}
