/// What an app server may do.
public enum AppServerRights: Sendable {
    case all
    /// Only methods that change nothing.
    case reading
}

/// Why credentials are rejected. Contains nothing of the credentials.
public enum CredentialError: UInt8, CaseIterable, Hashable, Error, Sendable {
    /// The service accepts no tokens.
    case tokensNotTaken
    /// The service accepts no self-asserted accounts: a token is required.
    case tokenNeeded
    /// The service accepts no self-asserted app servers: a key is required.
    case keyNeeded
    /// The session logged in without a token, so there is none to refresh.
    case nothingToRefresh
    /// The token is malformed.
    case malformed
    /// It is signed with an algorithm that is not accepted, or not at all.
    case algorithm
    /// Its header has `crit`, extensions that must be understood.
    case critical
    /// Its header names an unknown key.
    case unknownKey
    /// Its header names an algorithm that is not its key's.
    case otherAlgorithm
    /// Its signature is invalid.
    case signature
    /// It has no expiry time.
    case noExpiry
    /// It has expired.
    case expired
    /// It is not valid yet.
    case notYetValid
    /// It is for another audience.
    case audience
    /// It is from another issuer.
    case issuer
    /// It names no account.
    case subject
    /// The keys cannot be fetched, so it cannot be verified.
    case keysUnavailable
    /// The service accepts no passwords.
    case passwordsNotTaken
    /// The service accepts no self-asserted accounts: a password is required.
    case passwordNeeded
    /// The account has another password, or none.
    case password
}

extension Rejection {
    /// The rejection of a request with invalid credentials.
    public init(
        _ error: CredentialError, field: Field = .token, retryAfterSeconds: Int? = nil
    ) {
        switch error {
        case .expired: self.init(.expiredToken, field: field)
        case .keysUnavailable: self.init(.overloaded, retryAfterSeconds: retryAfterSeconds)
        case .passwordsNotTaken, .passwordNeeded, .password:
            self.init(.invalidPassword, field: .password)
        default: self.init(.invalidToken, field: field)
        }
        credentialError = error
    }
}

/// How long a session that logged in with a token may last.
public struct TokenTerm: Hashable, Sendable {
    /// When the token expires, as it says.
    public var expires: Wall
    /// Until when it is accepted, and the session lasts.
    public var honouredUntil: Wall

    /// A term.
    public init(expires: Wall, honouredUntil: Wall) {
        self.expires = expires
        self.honouredUntil = honouredUntil
    }
}
