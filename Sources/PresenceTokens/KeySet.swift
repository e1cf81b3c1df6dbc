// The keys that verify tokens. Each is bound to one algorithm by its kind: a public key is never
// used as an HMAC secret, whatever the header of a token says (RFC 8725 §3.1).
//
// jwt-kit keeps keys in an actor that uses a default key if a `kid` is unknown. That is not wanted
// here, so each jwt-kit collection has one key, and the choice of the key is made here.

import Containers

/// The algorithms that tokens may be signed with.
public enum TokenAlgorithm: String, CaseIterable, Sendable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"

    /// The algorithm of this name.
    init?(named name: ExactText) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    var name: ExactText { ExactText(rawValue) }

    /// What a key that verifies is, for people.
    fileprivate var keyName: String {
        switch self {
        case .hs256: "HS256 secret"
        case .rs256: "RSA public key"
        case .es256: "P-256 public key"
        case .edDSA: "Ed25519 public key"
        }
    }
}

/// Keys that verify tokens.
public struct KeySet: Sendable {
    /// The most keys in a set: a token without a `kid` is tried with each key of its algorithm.
    public static let keyCountMax = 32

    var keys: [TokenKey] = []
    /// Keys of a set that are ignored, and why.
    public internal(set) var skipped: [String] = []

    /// Whether one of the keys is a secret, which signs as well as verifies.
    public var holdsSecret: Bool { keys.contains { $0.algorithm == .hs256 } }

    /// What the keys are, such as `HS256 secret` or `2 P-256 public keys, RSA public key`.
    public var summary: String {
        TokenAlgorithm.allCases.compactMap { algorithm in
            let count = keys.count { $0.algorithm == algorithm }
            guard count > 0 else { return nil }
            return count == 1 ? algorithm.keyName : "\(count) \(algorithm.keyName)s"
        }.joined(separator: ", ")
    }

    /// The keys in a file.
    ///
    /// - Throws: why the file is rejected. An unsupported key is enough, except in a JWK set that
    ///   has others.
    public init(file content: [UInt8]) async throws(TokenKeyError) {
        switch try KeyText(content) {
        case .secret(let bytes): keys = [try await TokenKey(secret: bytes, kid: nil)]
        case .pem(let blocks):
            for block in blocks { keys.append(try await TokenKey(publicPEM: block)) }
        case .jwk(let json):
            let error = try await add(AnyJWK.members(in: json)) { jwk throws(TokenKeyError) in
                guard !jwk.isPrivate else { throw .privateKey }
                return true
            }
            if keys.isEmpty, let error { throw error }
        }
        guard !keys.isEmpty else { throw .unsupported("no key for signatures") }
        guard keys.count <= Self.keyCountMax else { throw .tooMany }
    }

    /// The keys in a fetched set. Unsupported keys are ignored.
    ///
    /// - Throws: if no key is left.
    init(fetched json: [UInt8]) async throws(TokenKeyError) {
        // A published secret is not secret.
        _ = try await add(AnyJWK.members(in: json)) { !$0.isPrivate && $0.kty != "oct" }
        guard !keys.isEmpty else { throw .unsupported("no supported key") }
    }

    /// Adds the keys for signatures, and notes those that are not understood: RFC 7517, 5. Returns
    /// why the first of them is not.
    private mutating func add(
        _ members: [AnyJWK.Member], where isUsable: (AnyJWK) throws(TokenKeyError) -> Bool
    ) async throws(TokenKeyError) -> TokenKeyError? {
        var first: TokenKeyError?
        for (index, member) in members.enumerated() {
            let name = member.name(at: index)
            guard let jwk = member.jwk else {
                skipped.append("\(name) is not a JWK")
                continue
            }
            guard jwk.isForSignatures else { continue }
            guard try isUsable(jwk) else {
                skipped.append("\(name) is not public")
                continue
            }
            guard keys.count < Self.keyCountMax else { throw .tooMany }
            do throws(TokenKeyError) {
                keys.append(try await TokenKey(jwk))
            } catch {
                switch error {
                case .unsupported, .brokenJSON: break
                default: throw error
                }
                first = first ?? error
                skipped.append("\(name) \(error)")
            }
        }
        return first
    }

    /// The names of the keys that another set does not have: `2026-a (ES256)`.
    public func names(ofKeysMissingIn other: KeySet) -> [String] {
        keys.filter { key in
            !other.keys.contains { $0.kid == key.kid && $0.digest == key.digest }
        }.map { "\($0.kid?.text ?? "without a name") (\($0.algorithm.rawValue))" }
    }

    /// The result of a search for the key of a token.
    enum Search {
        case keys([TokenKey])
        /// There is no key of this name.
        case unknownName
        /// There are keys of this name, but none for this algorithm.
        case otherAlgorithm
    }

    /// The keys that a token may be signed with.
    func search(kid: ExactText?, _ algorithm: TokenAlgorithm) -> Search {
        let named = kid.map { kid in keys.filter { $0.kid == kid } } ?? keys
        guard !named.isEmpty else { return .unknownName }
        let fitting = named.filter { $0.algorithm == algorithm }
        return fitting.isEmpty ? .otherAlgorithm : .keys(fitting)
    }
}
