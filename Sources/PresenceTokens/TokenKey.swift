import Containers
import Crypto
import FoundationEssentials
import JWTKit
import PresenceWire

/// A key, its name, and its algorithm.
struct TokenKey: Sendable {
    let kid: ExactText?
    let algorithm: TokenAlgorithm
    /// A hash of the key's material, which identifies it. It is never shown: a secret could be
    /// guessed from it.
    let digest: [UInt8]
    /// Verifies, and signs if the key is private or secret.
    private let signer: any JWTAlgorithm

    private init(
        _ algorithm: TokenAlgorithm, kid: ExactText?, of material: [UInt8],
        _ collection: JWTKeyCollection
    ) async throws {
        precondition(!material.isEmpty, "a key that cannot be told from others")
        self.kid = kid
        self.algorithm = algorithm
        digest = Array(SHA256.hash(data: material))
        signer = try await collection.getKey()
    }

    /// Whether the token was signed with this key.
    func hasSigned(_ token: TokenText) -> Bool {
        (try? signer.verify(token.signature, signs: token.signedText)) == true
    }

    /// A signature.
    func sign(_ text: [UInt8]) throws -> [UInt8] { try signer.sign(text) }
}

// From the many formats of a key to one that verifies, and signs if it can.

extension TokenKey {
    init(secret: [UInt8], kid: ExactText?) async throws(TokenKeyError) {
        guard KeyText.secretByteCountRange.contains(secret.count) else {
            throw .secretLength(secret.count)
        }
        let collection = await JWTKeyCollection()
            .add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        do {
            try await self.init(.hs256, kid: kid, of: secret, collection)
        } catch {
            throw .unsupported("an unsupported secret")
        }
    }

    init(publicPEM block: PEMBlock) async throws(TokenKeyError) {
        let text = block.text
        guard !block.label.hasSuffix("PRIVATE KEY") else { throw .privateKey }
        let isCertificate = block.label == "CERTIFICATE"
        let keys = JWTKeyCollection()
        do {
            if let rsa = isCertificate
                ? try? Insecure.RSA.PublicKey(certificatePEM: text)
                : try? Insecure.RSA.PublicKey(pem: text)
            {
                await keys.add(rsa: rsa, digestAlgorithm: .sha256)
                try await self.init(.rs256, kid: block.kid, of: Array(text.utf8), keys)
            } else if let ec = isCertificate
                ? try? ES256PublicKey(certificate: text) : try? ES256PublicKey(pem: text)
            {
                await keys.add(ecdsa: ec)
                try await self.init(.es256, kid: block.kid, of: Array(text.utf8), keys)
            } else {
                await keys.add(eddsa: try EdDSA.PublicKey(pem: text))
                try await self.init(.edDSA, kid: block.kid, of: Array(text.utf8), keys)
            }
        } catch {
            throw .unsupported(Self.pemAdvice)
        }
    }

    init(privatePEM block: PEMBlock) async throws(TokenKeyError) {
        let text = block.text
        guard block.label.hasSuffix("PRIVATE KEY") else { throw .publicKey }
        let keys = JWTKeyCollection()
        do {
            if let rsa = try? Insecure.RSA.PrivateKey(pem: text) {
                await keys.add(rsa: rsa, digestAlgorithm: .sha256)
                try await self.init(.rs256, kid: block.kid, of: Array(text.utf8), keys)
            } else if let ec = try? ES256PrivateKey(pem: text) {
                await keys.add(ecdsa: ec)
                try await self.init(.es256, kid: block.kid, of: Array(text.utf8), keys)
            } else {
                await keys.add(eddsa: try EdDSA.PrivateKey(pem: text))
                try await self.init(.edDSA, kid: block.kid, of: Array(text.utf8), keys)
            }
        } catch {
            throw .unsupported(Self.pemAdvice)
        }
    }

    private static var pemAdvice: String {
        "an unsupported PEM block; use RSA of at least 2,048 bits, P-256 or Ed25519"
    }

    init(_ loose: AnyJWK) async throws(TokenKeyError) {
        if loose.kty == "oct" {
            guard loose.alg ?? "HS256" == "HS256" else {
                throw .unsupported(loose.unsupportedReason)
            }
            guard let bytes = loose.k.flatMap({ Base64URL.decoded($0.utf8) }) else {
                throw .brokenJSON
            }
            if let found = PublicContent(in: bytes) { throw .notASecret(found) }
            try await self.init(secret: bytes, kid: loose.kid)
            return
        }
        let algorithms: [ExactText: (TokenAlgorithm, JWK.Algorithm)] = [
            "RSA": (.rs256, .rs256), "EC": (.es256, .es256), "OKP": (.edDSA, .eddsa),
        ]
        let curves: [ExactText: ExactText] = ["EC": "P-256", "OKP": "Ed25519"]
        guard let (algorithm, jwtAlgorithm) = algorithms[loose.kty],
            loose.alg ?? algorithm.name == algorithm.name,
            curves[loose.kty] ?? loose.crv == loose.crv, var jwk = loose.jwk
        else { throw .unsupported(loose.unsupportedReason) }
        jwk.algorithm = jwtAlgorithm
        // jwt-kit requires a name. It is not used elsewhere.
        jwk.keyIdentifier = JWKIdentifier(string: loose.kid?.text ?? "-")
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            let material = [UInt8](try encoder.encode(jwk))
            try await self.init(
                algorithm, kid: loose.kid, of: material, JWTKeyCollection().add(jwk: jwk))
        } catch {
            throw .unsupported(loose.unsupportedReason)
        }
    }
}

/// A JWK of any kind, also of unsupported kinds.
struct AnyJWK: Decodable {
    var kty: ExactText
    var use: ExactText?
    var alg: ExactText?
    var kid: ExactText?
    var crv: ExactText?
    /// The secret of an `oct`.
    var k: String?
    /// The private part of any other kind.
    var d: String?
    /// The same, parsed by jwt-kit; nil if jwt-kit does not support it.
    var jwk: JWK?

    private enum CodingKeys: String, CodingKey { case kty, use, alg, kid, crv, k, d }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        kty = try members.decode(ExactText.self, forKey: .kty)
        use = try members.decodeIfPresent(ExactText.self, forKey: .use)
        alg = try members.decodeIfPresent(ExactText.self, forKey: .alg)
        kid = try members.decodeIfPresent(ExactText.self, forKey: .kid)
        crv = try members.decodeIfPresent(ExactText.self, forKey: .crv)
        k = try members.decodeIfPresent(String.self, forKey: .k)
        d = try members.decodeIfPresent(String.self, forKey: .d)
        jwk = try? JWK(from: decoder)
    }

    var isForSignatures: Bool { use == nil || use == "sig" }
    var isPrivate: Bool { d != nil }

    fileprivate var unsupportedReason: String {
        "an unsupported JWK; use RSA with RS256, P-256 with ES256 or Ed25519 with EdDSA"
    }

    /// The members of a set, or the single key.
    static func members(in json: [UInt8]) throws(TokenKeyError) -> [Member] {
        struct Members: Decodable { var keys: [Member] }
        do throws(StrictJSONError) {
            try StrictJSON.check(json)
        } catch {
            throw error == .duplicateMember ? .duplicateMember : .brokenJSON
        }
        let data = Data(json)
        if let set = try? JSONDecoder().decode(Members.self, from: data) { return set.keys }
        guard let one = try? JSONDecoder().decode(Member.self, from: data), one.jwk != nil else {
            throw .brokenJSON
        }
        return [one]
    }

    /// What a set contains: a key, or something else, which leaves the others usable (RFC 7517, 5).
    struct Member: Decodable {
        /// Nil if it is no JWK.
        let jwk: AnyJWK?
        private let kid: ExactText?

        init(from decoder: any Decoder) throws {
            jwk = try? AnyJWK(from: decoder)
            let members = try? decoder.container(keyedBy: CodingKeys.self)
            kid = try? members?.decode(ExactText.self, forKey: .kid)
        }

        /// What it is called in the log: `key 2 (2026-a)`.
        func name(at index: Int) -> String {
            "key \(index + 1)" + (kid.map { " (\($0.text.prefix(64)))" } ?? "")
        }
    }
}
