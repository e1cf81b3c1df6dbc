/// The content of a valid token.
public struct VerifiedToken: Hashable, Sendable {
    /// The account.
    public var account: String
    /// `exp`, in milliseconds since 1970 UTC.
    public var expires: Int64
    /// When the service stops accepting it: `exp` and the leeway.
    public var acceptedUntil: Int64
}

/// The rules for a token besides its signature.
public struct TokenRules: Sendable {
    /// The audience that `aud` must contain; nil: a token must have no `aud`.
    ///
    /// RFC 7519 §4.1.3: a recipient that is not in `aud` must reject the token. Otherwise a token
    /// made for another service of the same issuer would be valid here.
    public var audience: String?
    /// The issuer that `iss` must be; nil for any.
    public var issuer: String?
    /// The tolerated difference between clocks.
    public var leewaySeconds: Int64 = 30
    /// The most bytes of an account name.
    public var accountBytesMax = 128

    /// Rules with the defaults for the rest.
    public init(audience: String? = nil, issuer: String? = nil) {
        self.audience = audience
        self.issuer = issuer
    }

    /// Whether the protocol allows this account name.
    public func isAccount(_ name: String) -> Bool {
        guard (1...accountBytesMax).contains(name.utf8.count),
            name.utf8.first != 0x20, name.utf8.last != 0x20
        else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
        }
    }
}
