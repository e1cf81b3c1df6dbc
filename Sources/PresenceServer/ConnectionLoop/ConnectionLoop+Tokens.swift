import Containers
import PresenceCore

// The expiry of tokens. The connection is then closed with 4402. A client that reconnects within
// the grace with a new token causes no event.

extension ConnectionLoop where Link: ~Copyable {
    /// Has a session end when its token does.
    mutating func limit(_ slot: Int, to term: TokenTerm) {
        let deadline = now().mono(at: term.honouredUntil)
        deadlines.set(&connections[slot].token.deadline, .token, of: slot, to: deadline)
    }

    /// The token of a session has expired, and no new one is being verified.
    mutating func tokenEnded(of slot: Int) {
        guard connections[slot].phase == .serving else { return }
        counters.tokensExpired += 1
        close(slot, .tokenExpired)
    }
}
