// Judges tokens: JWTs of HS256, RS256, ES256 or EdDSA whose `sub` is an account.
//
// In this order: header, key, signature, claims. Nothing that is not signed is looked into beyond
// the header. A key does one algorithm (`KeySet`), so that the header cannot choose how a key is
// used. Times are the caller's: nothing here reads a clock.

/// Judges tokens. Shared by all who do, on any thread.
public final class TokenVerifier: Sendable {
    private let rules: TokenRules
    private let source: KeySource

    /// A judge by keys that stay until somebody replaces them.
    public init(keys: KeySet, rules: TokenRules) {
        self.rules = rules
        source = KeySource(keys)
    }

    /// A judge by keys that are fetched, and fetched again.
    public init(fetching source: KeySource, rules: TokenRules) {
        self.rules = rules
        self.source = source
    }

    /// Has other keys hold from now on. Any thread.
    public func replace(keys: KeySet) { source.replace(with: keys) }

    /// Judges a token by the wall clock's `now`, in milliseconds since 1970 UTC.
    ///
    /// Tens of microseconds, unless its key is not known and has to be fetched.
    ///
    /// - Throws: what is wrong with it.
    public func verify(_ token: [UInt8], at now: Int64) async throws(TokenFault) -> VerifiedToken {
        let text = try TokenText(token)
        guard !text.header.isCritical else { throw .critical }
        guard let algorithm = TokenAlgorithm(rawValue: text.header.alg) else { throw .algorithm }
        let keys = try await keys(kid: text.header.kid, algorithm, at: now)
        guard keys.contains(where: { $0.hasSigned(text) }) else { throw .signature }
        return try judge(text.claims(), at: now)
    }

    private func keys(
        kid: String?, _ algorithm: TokenAlgorithm, at now: Int64
    ) async throws(TokenFault) -> [TokenKey] {
        switch source.current?.search(kid: kid, algorithm) {
        case .keys(let keys): return keys
        case .otherAlgorithm: throw .otherAlgorithm
        case .unknownName, nil: break
        }
        // It may be new. Where that cannot be found out, nobody is told that it is none.
        guard await source.fetch(at: now) == .upToDate else { throw .keysUnavailable }
        switch source.current?.search(kid: kid, algorithm) {
        case .keys(let keys): return keys
        case .otherAlgorithm: throw .otherAlgorithm
        case .unknownName: throw .unknownKey
        case nil: throw .keysUnavailable
        }
    }

    private func judge(_ claims: TokenClaims, at now: Int64) throws(TokenFault) -> VerifiedToken {
        let leeway = rules.leewaySeconds * 1_000
        guard let exp = claims.exp.flatMap(Self.milliseconds) else { throw .noExpiry }
        guard now < exp + leeway else { throw .expired }
        if let nbf = claims.nbf {
            guard let nbf = Self.milliseconds(nbf), nbf - leeway <= now else { throw .notYetValid }
        }
        if let audience = rules.audience {
            guard claims.aud.contains(audience) else { throw .audience }
        } else {
            guard !claims.hasAudience else { throw .audience }
        }
        if let issuer = rules.issuer {
            guard claims.iss == issuer else { throw .issuer }
        }
        guard let account = claims.sub, rules.isAccount(account) else { throw .subject }
        return VerifiedToken(account: account, expires: exp, honouredUntil: exp + leeway)
    }

    /// Seconds since 1970, as they stand in a token, in milliseconds; nil where no calendar
    /// goes that far.
    private static func milliseconds(_ seconds: Double) -> Int64? {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        return Int64((seconds * 1_000).rounded(.down))
    }
}
