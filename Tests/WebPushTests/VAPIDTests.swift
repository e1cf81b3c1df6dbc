import Containers
import Crypto
import Foundation
import Testing

@testable import WebPush

@Suite struct `VAPID keys` {
    @Test func `are read as they are written`() throws {
        let key = VAPIDKey()
        #expect(try VAPIDKey(file: Array(key.file.utf8)).publicText == key.publicText)
        #expect(Base64URL.decoded(key.publicText.utf8)?.count == 65)
    }

    /// openssl ecparam -name prime256v1 -genkey, openssl pkcs8 -topk8 -nocrypt, and its 32 bytes.
    @Test(arguments: [
        """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIMNgH/ic8HV5f7I9OrOjkL2U5rprDFyGkOfD859mB0C5oAoGCCqGSM49
        AwEHoUQDQgAEzyw4CfMvVd2lpt76kf3jKHco7fEDaU2mgxgHon8SIEXRaM8A7hhe
        owrrIyANPtN9xXfEb1lOKHjiaRaUy0Q0Bw==
        -----END EC PRIVATE KEY-----
        """,
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgw2Af+JzwdXl/sj06
        s6OQvZTmumsMXIaQ58Pzn2YHQLmhRANCAATPLDgJ8y9V3aWm3vqR/eModyjt8QNp
        TaaDGAeifxIgRdFozwDuGF6jCusjIA0+033Fd8RvWU4oeOJpFpTLRDQH
        -----END PRIVATE KEY-----
        """,
        "w2Af-JzwdXl_sj06s6OQvZTmumsMXIaQ58Pzn2YHQLk\n",
    ])
    func `are those of other tools`(file: String) throws {
        #expect(
            try VAPIDKey(file: Array(file.utf8)).publicText
                == "BM8sOAnzL1Xdpabe-pH94yh3KO3xA2lNpoMYB6J_EiBF0WjPAO4YXqMK6yMgDT7TfcV3xG9ZTih4"
                + "4mkWlMtENAc")
    }

    @Test func `are rejected with a reason`() {
        let p384 = P384.Signing.PrivateKey()
        let p256 = P256.Signing.PrivateKey()
        let files: [(String, VAPIDKeyError)] = [
            ("", .empty), (" \n", .empty), ("word", .unsupported), ("a b", .unsupported),
            (p256.publicKey.pemRepresentation, .noPrivateKey),
            (Base64URL.encoded([UInt8](p256.publicKey.x963Representation)), .noPrivateKey),
            (p384.pemRepresentation, .unsupported),
            (Base64URL.encoded([UInt8](repeating: 0, count: 32)), .unsupported),
            (Base64URL.encoded([UInt8](repeating: 255, count: 32)), .unsupported),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", .unsupported),
            ("-----BEGIN PRIVATE KEY-----\nAAAA", .noPrivateKey),
        ]
        for (file, reason) in files {
            #expect(throws: reason, "\(file)") { try VAPIDKey(file: Array(file.utf8)) }
        }
    }
}

@Suite struct `VAPID tokens` {
    private let key = VAPIDKey()

    private func tokens() throws -> VAPIDTokens {
        VAPIDTokens(key, try #require(PushSubject("mailto:ops@example.com")))
    }

    private func parts(_ authorization: String) throws -> (token: String, claims: [String: Any]) {
        let words = authorization.split { " ,=".contains($0) }.map(String.init)
        #expect(words.count == 5 && words[0] == "vapid" && words[1] == "t" && words[3] == "k")
        #expect(words[4] == key.publicText)
        let token = words[2].split(separator: ".").map(String.init)
        let payload = try #require(Base64URL.decoded(token[1].utf8))
        let claims = try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
        return (words[2], try #require(claims))
    }

    @Test func `are signed for the origin of an endpoint`() throws {
        var tokens = try tokens()
        let endpoint = try #require(PushEndpoint("https://push.example:8443/a/b?c"))
        let (token, claims) = try parts(tokens.authorization(for: endpoint, at: 1_000_000))
        #expect(claims["aud"] as? String == "https://push.example:8443")
        #expect(claims["sub"] as? String == "mailto:ops@example.com")
        #expect(claims["exp"] as? Int == 1_000_000 + 12 * 3_600)
        let words = token.split(separator: ".")
        let signature = try #require(Base64URL.decoded(words[2].utf8))
        #expect(
            try key.key.publicKey.isValidSignature(
                .init(rawRepresentation: signature), for: Data("\(words[0]).\(words[1])".utf8)))
    }

    @Test func `are kept for an origin until an hour before their end`() throws {
        var tokens = try tokens()
        let one = try #require(PushEndpoint("https://push.example/1"))
        let other = try #require(PushEndpoint("https://other.example/1"))
        let first = try tokens.authorization(for: one, at: 0)
        #expect(try tokens.authorization(for: one, at: 11 * 3_600 - 1) == first)
        #expect(try tokens.authorization(for: other, at: 0) != first)
        let (_, claims) = try parts(tokens.authorization(for: one, at: 11 * 3_600))
        #expect(claims["exp"] as? Int == 23 * 3_600)
        // The clock was set back: the token would be valid for more than a push service accepts.
        let (_, earlier) = try parts(tokens.authorization(for: one, at: 0))
        #expect(earlier["exp"] as? Int == 12 * 3_600)
    }

    @Test func `are bounded`() throws {
        var tokens = try tokens()
        for number in 0..<(VAPIDTokens.originsMax + 5) {
            let endpoint = try #require(PushEndpoint("https://h\(number).push.example/"))
            _ = try tokens.authorization(for: endpoint, at: 0)
        }
        #expect(tokens.count <= VAPIDTokens.originsMax)
    }

    @Test(arguments: ["mailto:a@b", "mailto:ops@example.com", "https://example.com/contact"])
    func `name whom to tell`(text: String) {
        #expect(PushSubject(text)?.text == text)
    }

    @Test(arguments: [
        "", "mailto:", "mailto:a", "mailto:@b", "mailto:a@", "mailto:a@b@c", "http://example.com",
        "https://", "ops@example.com", "mailto:a b@c", "mailto:\"a\"@b", "mailto:é@b",
        "https://a/\\", "mailto:<a@b>", "tel:1",
    ])
    func `need somewhere to be told`(text: String) {
        #expect(PushSubject(text) == nil)
    }
}
