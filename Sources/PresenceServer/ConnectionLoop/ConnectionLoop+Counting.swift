import Containers
import PresenceCore
import PresenceWire

// Counting that is more than an increment. Nothing here runs per delivery.

extension ConnectionLoop where Link: ~Copyable {
    /// Counts a rejected request. Before the login it counts as a rejected login, unless the
    /// reason is that the connection has not logged in.
    mutating func count(_ refusal: Refusal, of slot: Int) {
        counters.refusals.count(refusal.reason)
        guard connections[slot].phase == .anonymous, refusal.reason != .notLoggedIn else { return }
        counters.loginsRefused.count(refusal.reason)
    }

    /// Counts a frame that could not be parsed, or whose parameters were invalid.
    mutating func count(_ fault: RequestError, of slot: Int) {
        switch fault.cause {
        case .envelope(let envelope): counters.malformed.count(envelope.reason)
        case .refused(let refusal): count(refusal, of: slot)
        }
    }

    /// Counts the end of a connection, once: when it is first noticed.
    mutating func count(_ ending: Ending, of slot: Int) {
        switch connections[slot].phase {
        case .anonymous, .serving: counters.endings.count(ending)
        case .free, .ending, .closing: break
        }
    }

    // MARK: The loop

    /// Notes that an event has arrived. The first one begins the turn.
    mutating func beginTurn() {
        if loopTimes.turnBegan == nil { loopTimes.turnBegan = loop.monotonicNanoseconds }
    }

    /// Records the duration of the turn that ends now.
    mutating func endTurn() {
        guard let began = loopTimes.turnBegan else { return }
        loopTimes.turnBegan = nil
        loopTimes.turns.observe(microseconds: (loop.monotonicNanoseconds - began) / 1_000)
    }

    /// Records how late the loop is for the deadline it waited for, if that deadline has passed.
    mutating func noteLag(at now: Mono) {
        guard let awaited = loopTimes.awaited, awaited <= now else { return }
        loopTimes.awaited = nil
        loopTimes.lag.observe(
            microseconds: (now.milliseconds - awaited.milliseconds) * 1_000)
    }
}
