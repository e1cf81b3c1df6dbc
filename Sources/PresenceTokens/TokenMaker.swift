import FoundationEssentials

/// Makes tokens, for trying out: an account's own come from whoever knows its owner.
public struct TokenMaker: Sendable {
    private let key: TokenKey

    /// What the tokens are signed with.
    public var algorithm: TokenAlgorithm { key.algorithm }

    /// Signs with the key in a file: a secret, a private key in PEM, or a JWK with one.
    ///
    /// - Throws: why the file is refused.
    public init(file content: [UInt8]) async throws(TokenKeyFault) {
        switch try KeyText(content) {
        case .secret(let bytes): key = try await TokenKey(secret: bytes, kid: nil)
        case .pem(let blocks):
            guard blocks.count == 1 else { throw .severalKeys }
            key = try await TokenKey(privatePEM: blocks[0])
        case .jwk(let json):
            let keys = try LooseJWK.keys(in: json)
            guard keys.count == 1 else { throw .severalKeys }
            guard keys[0].kty == "oct" || keys[0].isPrivate else { throw .publicKey }
            key = try await TokenKey(keys[0])
        }
    }

    /// What a token is to say.
    public struct Claims: Encodable, Sendable {
        /// The account.
        public var sub: String
        /// Since when, in seconds since 1970 UTC.
        public var iat: Int64
        /// Until when.
        public var exp: Int64
        /// For whom; nil: for nobody in particular.
        public var aud: String?
        /// By whom; nil: it does not say.
        public var iss: String?

        /// Claims without `aud` and `iss`.
        public init(account: String, issued: Int64, expires: Int64) {
            sub = account
            iat = issued
            exp = expires
        }
    }

    /// A token. `kid` overrides the name that the key has in its file.
    public func token(_ claims: Claims, kid: String? = nil) throws(TokenKeyFault) -> String {
        struct Header: Encodable {
            var alg: String
            var kid: String?
            var typ = "JWT"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            let header = Header(alg: key.algorithm.rawValue, kid: kid ?? key.kid)
            let parts = [try encoder.encode(header), try encoder.encode(claims)]
            let text = parts.map { Base64URL.encode([UInt8]($0)) }.joined(separator: ".")
            return text + "." + Base64URL.encode(try key.sign([UInt8](text.utf8)))
        } catch {
            throw .unsupported("a key that cannot sign")
        }
    }
}
