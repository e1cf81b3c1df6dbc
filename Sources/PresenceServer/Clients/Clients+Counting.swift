import Connections
import Containers
import PresenceCore
import PresenceWire

// Counting that is more than an increment. Nothing here runs per delivery.

extension Clients {
    /// Counts a rejected request. Before the login it counts as a rejected login, unless the
    /// reason is that the connection has not logged in.
    mutating func count(_ rejection: Rejection, of slot: Int) {
        counters.rejections.count(rejection.reason)
        guard table.phase(of: slot) == .anonymous, rejection.reason != .notLoggedIn else { return }
        counters.loginsRejected.count(rejection.reason)
    }

    /// Counts a frame that could not be parsed, or whose parameters were invalid.
    mutating func count(_ error: RequestError, of slot: Int) {
        switch error.cause {
        case .envelope(let envelope): counters.malformed.count(envelope.reason)
        case .rejected(let rejection): count(rejection, of: slot)
        }
    }

    /// Counts the end of a connection, once: when it is first noticed.
    mutating func count(_ ending: Ending, of slot: Int) {
        if table.phase(of: slot).isOpen { counters.endings.count(ending) }
    }
}
