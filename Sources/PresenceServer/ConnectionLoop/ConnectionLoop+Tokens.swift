import Containers
import PresenceCore

// The expiry of tokens. The connection is then closed with 4402. A client that reconnects within
// the grace with a new token causes no event.

extension ConnectionLoop where Link: ~Copyable {
    /// Has a session end when its token does.
    mutating func limit(_ slot: Int, to term: TokenTerm) {
        let deadline = now().mono(at: term.honouredUntil).milliseconds
        if connections[slot].tokenDeadline == .none {
            connections[slot].tokenDeadline = deadlines.schedule(
                ConnectionDeadline.token.payload(slot), at: deadline)
        } else {
            deadlines.reschedule(connections[slot].tokenDeadline, at: deadline)
        }
    }

    /// The token of a session has ended. A new one that came before is verified first.
    mutating func tokenEnded(of slot: Int) {
        connections[slot].tokenDeadline = .none
        guard connections[slot].phase == .serving,
            !connections[slot].state.contains(.isRefreshing)
        else { return }
        counters.tokensExpired += 1
        close(slot, .tokenExpired)
    }

    /// A new token has been verified, or was refused. The old one may have ended meanwhile.
    mutating func refreshEnded(of slot: Int) {
        connections[slot].state.remove(.isRefreshing)
        if connections[slot].tokenDeadline == .none { tokenEnded(of: slot) }
    }

    mutating func forgetToken(of slot: Int) {
        guard connections[slot].tokenDeadline != .none else { return }
        deadlines.cancel(connections[slot].tokenDeadline)
        connections[slot].tokenDeadline = .none
    }
}
