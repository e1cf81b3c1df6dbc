/// Why a token does not hold. Says nothing that stands in the token.
public enum TokenFault: Error, Hashable, CaseIterable, Sendable {
    /// No three parts in base64url, or no JSON in them.
    case malformed
    /// Signed by none of our algorithms, or not at all.
    case algorithm
    /// The header demands extensions to be understood.
    case critical
    /// The header names a key that we do not have.
    case unknownKey
    /// The key is for another algorithm than the header says.
    case otherAlgorithm
    /// The signature is not the key's.
    case signature
    /// There is no `exp`, or none that is a number.
    case noExpiry
    /// `exp` has passed.
    case expired
    /// `nbf` has not come yet.
    case notYetValid
    /// `aud` is for others, or for somebody while we are nobody in particular.
    case audience
    /// `iss` is another one.
    case issuer
    /// There is no `sub`, or one that no account can be called.
    case subject
    /// The keys could not be fetched, so that nobody knows.
    case keysUnavailable
}

/// What a token that holds says.
public struct VerifiedToken: Hashable, Sendable {
    /// Whose it is.
    public var account: String
    /// When it ends by its own words, in milliseconds since 1970 UTC.
    public var expires: Int64
    /// Until when we take it.
    public var honouredUntil: Int64
}

/// What is asked of a token beside its signature.
public struct TokenRules: Sendable {
    /// What `aud` must contain; nil: a token must have none.
    ///
    /// RFC 7519 §4.1.3: who is not named must refuse. Without that, a token that was made for
    /// another service of the same issuer would let its owner in here.
    public var audience: String?
    /// What `iss` must be; nil: anything.
    public var issuer: String?
    /// By how much clocks may differ.
    public var leewaySeconds: Int64 = 30
    /// Bytes of an account's name.
    public var accountBytesMax = 128

    /// Rules with the defaults for the rest.
    public init(audience: String? = nil, issuer: String? = nil) {
        self.audience = audience
        self.issuer = issuer
    }

    /// The protocol's rule for accounts.
    public func isAccount(_ name: String) -> Bool {
        guard (1...accountBytesMax).contains(name.utf8.count),
            name.utf8.first != 0x20, name.utf8.last != 0x20
        else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
        }
    }
}
