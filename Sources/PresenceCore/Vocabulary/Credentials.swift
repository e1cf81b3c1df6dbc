/// What is wrong with what somebody shows in order to be let in. Says nothing of what was shown.
public enum CredentialFault: UInt8, CaseIterable, Hashable, Error, Sendable {
    /// The service takes no tokens.
    case tokensNotTaken
    /// The service takes nobody at his word: a token is needed.
    case tokenNeeded
    /// The service takes no app server at its word: a key is needed.
    case keyNeeded
    /// The session was begun without a token, and has none to refresh.
    case nothingToRefresh
    /// The token has not the form of one.
    case malformed
    /// It is signed by an algorithm that is not taken, or not at all.
    case algorithm
    /// Its header demands extensions to be understood.
    case critical
    /// Its header names a key that is not there.
    case unknownKey
    /// Its header names an algorithm that is not its key's.
    case otherAlgorithm
    /// Its signature does not hold.
    case signature
    /// It does not say when it ends.
    case noExpiry
    /// It has ended.
    case expired
    /// It has not begun.
    case notYetValid
    /// It is for another audience.
    case audience
    /// It is from another issuer.
    case issuer
    /// It names no account.
    case subject
    /// The keys cannot be had now, so that nobody knows whether it holds.
    case keysUnavailable
}

extension Refusal {
    /// The refusal of whoever shows something that does not hold.
    public init(
        _ fault: CredentialFault, field: Field = .token, retryAfterSeconds: Int? = nil
    ) {
        switch fault {
        case .expired: self.init(.expiredToken, field: field)
        case .keysUnavailable: self.init(.overloaded, retryAfterSeconds: retryAfterSeconds)
        default: self.init(.invalidToken, field: field)
        }
        self.fault = fault
    }
}

/// How long a session may go on that was begun with a token.
public struct TokenTerm: Hashable, Sendable {
    /// When the token ends by its own words.
    public var expires: Wall
    /// Until when it is taken, and the session with it.
    public var honouredUntil: Wall

    /// A term.
    public init(expires: Wall, honouredUntil: Wall) {
        self.expires = expires
        self.honouredUntil = honouredUntil
    }
}
