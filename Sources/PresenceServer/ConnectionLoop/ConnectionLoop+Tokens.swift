import Containers
import PresenceCore

// The expiry of tokens. The connection is then closed with 4402. A client that reconnects within
// the grace with a new token causes no event.

extension ConnectionLoop where Link: ~Copyable {
    /// Has a session end when its token does.
    mutating func limit(_ slot: Int, to term: TokenTerm) {
        let deadline = now().mono(at: term.honouredUntil)
        deadlines.set(&connections[slot].tokenDeadline, .token, of: slot, to: deadline)
    }

    /// The token of a session has ended. A new one that came before is verified first.
    mutating func tokenEnded(of slot: Int) {
        guard connections[slot].phase == .serving,
            !connections[slot].state.contains(.isRefreshing)
        else { return }
        counters.tokensExpired += 1
        close(slot, .tokenExpired)
    }

    /// A new token has been verified, or was refused. The old one may have ended meanwhile.
    mutating func refreshEnded(of slot: Int) {
        connections[slot].state.remove(.isRefreshing)
        if !connections[slot].tokenDeadline.isSet { tokenEnded(of: slot) }
    }
}
