import Containers
import EventLoop
import PresenceCore

/// The tokens that are being verified elsewhere.
struct TokenVerification {
    /// Verifies tokens; nil: none are accepted.
    var verifier: (any TokenVerifying)?
    /// Tokens that are being verified.
    private(set) var inProgress = 0
    /// The connections that wait for one, each for one.
    private var waiting: Set<ConnectionID> = []
    /// Tokens submitted.
    private(set) var submitted = 0
    /// Tokens that were rejected.
    private(set) var rejected = 0
    /// Tokens not verified because too many were waiting.
    private(set) var overLimit = 0

    /// Whether one more token may wait. Those of a network whose logins fail too often may wait
    /// only while few tokens do: they take what others leave.
    mutating func hasRoom(isSuspect: Bool, _ limits: AdmissionLimits) -> Bool {
        let countMax =
            isSuspect ? min(limits.suspectTokensMax, limits.tokensMax) : limits.tokensMax
        guard inProgress >= countMax else { return true }
        overLimit += 1
        return false
    }

    /// Submits a token.
    mutating func submit(_ request: TokenRequest, to authenticator: any Authenticator) {
        precondition(verifier != nil, "a token without a verifier")
        inProgress += 1
        waiting.insert(request.connection)
        submitted += 1
        verifier?.submit(request, to: authenticator)
    }

    /// Adds what has been counted.
    func add(to counters: inout ServiceCounters) {
        counters.tokensSubmitted += submitted
        counters.tokensRejected += rejected
        counters.tokensOverLimit += overLimit
    }

    /// Forgets a connection that has ended: what it waits for is not carried out.
    mutating func forget(_ connection: ConnectionID) {
        waiting.remove(connection)
    }

    /// Notes that a token was rejected.
    mutating func noteRejected() {
        rejected += 1
    }

    /// Notes that a token has been verified. Returns whether its connection still waits for it.
    mutating func note(_ result: TokenResult) -> Bool {
        precondition(inProgress > 0, "a token that was not submitted")
        inProgress -= 1
        return waiting.remove(result.connection) != nil
    }
}
