import Containers
import FoundationEssentials

/// Issues tokens for tests and trials. In production, the program that signs users in issues them.
public struct TokenIssuer: Sendable {
    private let key: TokenKey

    /// The algorithm of the key.
    public var algorithm: TokenAlgorithm { key.algorithm }

    /// Signs with the key in a file: a secret, a private key in PEM, or a JWK that contains one.
    ///
    /// - Throws: why the file is rejected.
    public init(file content: [UInt8]) async throws(TokenKeyError) {
        switch try KeyText(content) {
        case .secret(let bytes): key = try await TokenKey(secret: bytes, kid: nil)
        case .pem(let blocks):
            guard blocks.count == 1 else { throw .severalKeys }
            key = try await TokenKey(privatePEM: blocks[0])
        case .jwk(let json):
            let members = try AnyJWK.members(in: json)
            guard members.count == 1 else { throw .severalKeys }
            guard let jwk = members[0].jwk else { throw .brokenJSON }
            guard jwk.kty == "oct" || jwk.isPrivate else { throw .publicKey }
            key = try await TokenKey(jwk)
        }
    }

    /// The claims of a token.
    public struct Claims: Encodable, Sendable {
        /// The account.
        public var sub: String
        /// Issued at, in seconds since 1970 UTC.
        public var iat: Int64
        /// Expires at.
        public var exp: Int64
        /// The audience; nil for none.
        public var aud: String?
        /// The issuer; nil for none.
        public var iss: String?

        /// Claims without `aud` and `iss`.
        public init(account: String, issued: Int64, expires: Int64) {
            sub = account
            iat = issued
            exp = expires
        }
    }

    /// A signed token. `kid` overrides the name of the key in its file.
    public func token(_ claims: Claims, kid: String? = nil) throws(TokenKeyError) -> String {
        struct Header: Encodable {
            var alg: String
            var kid: String?
            var typ = "JWT"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            let header = Header(alg: key.algorithm.rawValue, kid: kid ?? key.kid?.text)
            let parts = [try encoder.encode(header), try encoder.encode(claims)]
            let text = parts.map { Base64URL.encoded([UInt8]($0)) }.joined(separator: ".")
            return text + "." + Base64URL.encoded(try key.sign([UInt8](text.utf8)))
        } catch {
            throw .unsupported("a key that cannot sign")
        }
    }
}
