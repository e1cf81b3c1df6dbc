// Verifies tokens: JWTs of HS256, RS256, ES256 or EdDSA whose `sub` is an account.
//
// In this order: header, key, signature, claims. Before the signature is verified, only the header
// is parsed. A key is for one algorithm (`KeySet`), so that the header cannot choose how a key is
// used. The caller gives the time: nothing here reads a clock.

import Containers
public import PresenceCore

/// Verifies tokens, on any thread.
public final class TokenVerifier: Sendable {
    private let rules: TokenRules
    private let source: KeySource

    /// A verifier with keys that stay until they are replaced.
    public init(keys: KeySet, rules: TokenRules) {
        self.rules = rules
        source = KeySource(keys)
    }

    /// A verifier with keys that are fetched repeatedly.
    public init(fetching source: KeySource, rules: TokenRules) {
        self.rules = rules
        self.source = source
    }

    /// Replaces the keys. Any thread.
    public func replace(keys: KeySet) { source.replace(with: keys) }

    /// Verifies a token at the wall clock's `now`, in milliseconds since 1970 UTC.
    ///
    /// Takes tens of microseconds, unless its key is unknown and has to be fetched.
    ///
    /// - Throws: why the token is invalid.
    public func verify(
        _ token: [UInt8], at now: Int64
    ) async throws(CredentialError) -> VerifiedToken {
        let text = try TokenText(token)
        guard !text.header.isCritical else { throw .critical }
        guard let algorithm = TokenAlgorithm(named: text.header.alg) else { throw .algorithm }
        let keys = try await keys(kid: text.header.kid, algorithm, at: now)
        precondition(keys.allSatisfy { $0.algorithm == algorithm }, "a key of another algorithm")
        guard keys.contains(where: { $0.hasSigned(text) }) else { throw .signature }
        return try verify(text.claims(), at: now)
    }

    private func keys(
        kid: ExactText?, _ algorithm: TokenAlgorithm, at now: Int64
    ) async throws(CredentialError) -> [TokenKey] {
        switch source.current?.search(kid: kid, algorithm) {
        case .keys(let keys): return keys
        case .otherAlgorithm: throw .otherAlgorithm
        case .unknownName, nil: break
        }
        // The key may be new. If the keys cannot be fetched, the token is not called invalid.
        guard await source.fetch(at: now) == .upToDate else { throw .keysUnavailable }
        switch source.current?.search(kid: kid, algorithm) {
        case .keys(let keys): return keys
        case .otherAlgorithm: throw .otherAlgorithm
        case .unknownName: throw .unknownKey
        case nil: throw .keysUnavailable
        }
    }

    private func verify(
        _ claims: TokenClaims, at now: Int64
    ) throws(CredentialError) -> VerifiedToken {
        precondition(rules.leewaySeconds >= 0, "a token would expire before its time")
        let leeway = rules.leewaySeconds * 1_000
        guard let exp = claims.exp.flatMap(Self.milliseconds) else { throw .noExpiry }
        guard now < exp + leeway else { throw .expired }
        if let nbf = claims.nbf {
            guard let nbf = Self.milliseconds(nbf), nbf - leeway <= now else { throw .notYetValid }
        }
        if let audience = rules.audience {
            guard claims.aud.contains(ExactText(audience)) else { throw .audience }
        } else {
            guard !claims.hasAudience else { throw .audience }
        }
        if let issuer = rules.issuer {
            guard claims.iss == ExactText(issuer) else { throw .issuer }
        }
        guard let account = claims.sub, rules.isAccount(account) else { throw .subject }
        return VerifiedToken(account: account, expires: exp, acceptedUntil: exp + leeway)
    }

    /// Seconds since 1970, as in a token, in milliseconds; nil if beyond any calendar.
    private static func milliseconds(_ seconds: Double) -> Int64? {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        return Int64((seconds * 1_000).rounded(.down))
    }
}
