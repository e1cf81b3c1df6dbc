import Containers
import PresenceCore
import Testing

@testable import PresenceTokens

@Suite struct TokenKeyFileTests {
    static let claims = TokenIssuer.Claims(
        account: "alice", issued: nowSeconds, expires: nowSeconds + 600)

    static let pairs: [(String, String, TokenAlgorithm)] = [
        (TestKeys.secret, TestKeys.secret + "\r\n", .hs256),
        (TestKeys.rsaPrivate, TestKeys.rsaPublic, .rs256),
        (TestKeys.ecPrivate, "some words\n\n" + TestKeys.ecPublic, .es256),
        (TestKeys.ecPrivate, TestKeys.ecCertificate, .es256),
        (TestKeys.edPrivate, TestKeys.edPublic.replacing("\n", with: "\r\n"), .edDSA),
    ]

    @Test(arguments: pairs)
    func `a token signed with one file is verified with the other`(
        own: String, others: String, algorithm: TokenAlgorithm
    ) async throws {
        let maker = try await TokenIssuer(file: bytes(own))
        #expect(maker.algorithm == algorithm)
        let verifier = TokenVerifier(
            keys: try await KeySet(file: bytes(others)), rules: TokenRules())
        let token = bytes(try maker.token(Self.claims))
        #expect(try await verifier.verify(token, at: now).account == "alice")
    }

    @Test func `a public key is not used as a secret`() async throws {
        for file in [TestKeys.rsaPublic, TestKeys.ecPublic, TestKeys.edPublic] {
            let verifier = TokenVerifier(
                keys: try await KeySet(file: bytes(file)), rules: TokenRules())
            // What an attacker who has the public key would send.
            for secret in [file, file + "\n"] {
                let token = try await token(TokenVerifierTests.good, secret: secret)
                #expect(await verifier.error(token) == .otherAlgorithm)
            }
        }
    }

    @Test func `keys have names, and a name leads to its key only`() async throws {
        let file = "kid: old\n\(TestKeys.edPublic)\nkid: new\n\(TestKeys.rsaPublic)\n"
        let verifier = TokenVerifier(
            keys: try await KeySet(file: bytes(file)), rules: TokenRules())
        let maker = try await TokenIssuer(file: bytes(TestKeys.edPrivate))
        func error(_ kid: String?) async throws -> CredentialError? {
            await verifier.error(bytes(try maker.token(Self.claims, kid: kid)))
        }
        #expect(try await error("old") == nil)
        #expect(try await error(nil) == nil)
        #expect(try await error("new") == .otherAlgorithm)
        #expect(try await error("other") == .unknownKey)
    }

    @Test func `a set of secrets can be rotated`() async throws {
        let k = Base64URL.encoded(bytes(TestKeys.secret))
        let other = Base64URL.encoded(Array(repeating: 7, count: 32))
        let set = #"{"keys":[{"kty":"oct","k":"\#(other)"},{"kty":"oct","kid":"n","k":"\#(k)"}]}"#
        let verifier = TokenVerifier(
            keys: try await KeySet(file: bytes(set)), rules: TokenRules())
        #expect(await verifier.error(try await token(TokenVerifierTests.good)) == nil)
        let named = try await token(
            header: #"{"alg":"HS256","kid":"n"}"#, TokenVerifierTests.good)
        #expect(await verifier.error(named) == nil)
    }

    static let publicSecret =
        "{\"kty\":\"oct\",\"k\":\"" + Base64URL.encoded(bytes(TestKeys.ecPublic)) + "\"}"

    @Test(
        arguments: [
            ("", .empty), (" \n\n", .empty), ("short", .secretLength(5)),
            (String(repeating: "x", count: 4_097), .secretLength(4_097)),
            (TestKeys.rsaPrivate, .privateKey), (TestKeys.edPrivate, .privateKey),
            (String(TestKeys.rsaPublic.dropLast(30)), .brokenPEM),
            ("{\(TestKeys.secret)", .brokenJSON), ("{}", .brokenJSON),
            ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 me@here", .notASecret(.publicKey)),
            (#"{"kty":"OKP","crv":"Ed25519","x":"a","d":"b"}"#, .privateKey),
            (#"{"kty":"oct","k":"c2hvcnQ"}"#, .secretLength(5)),
            (publicSecret, .notASecret(.publicKey)),
        ] as [(String, TokenKeyError)])
    func `an invalid file is rejected`(text: String, error: TokenKeyError) async {
        await #expect(throws: error) { try await KeySet(file: bytes(text)) }
    }

    @Test(arguments: [
        TestKeys.p384Public, TestKeys.smallPublic, #"{"keys":[]}"#,
        #"{"keys":[{"kty":"EC","use":"enc"}]}"#, #"{"kty":"EC","crv":"P-384","x":"a","y":"b"}"#,
        #"{"kty":"RSA","alg":"RS512","n":"a","e":"AQAB"}"#, #"{"kty":"AKP"}"#,
        #"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
    ])
    func `an unsupported key is rejected`(text: String) async {
        await #expect {
            try await KeySet(file: bytes(text))
        } throws: { error in
            if case TokenKeyError.unsupported = error { true } else { false }
        }
    }

    @Test func `a bare public key is not used as a secret`() async throws {
        let text = TestKeys.rsaPublic.split(separator: "\n").dropFirst().dropLast()
        for bare in [text.joined(), text.joined(separator: "\n")] {
            await #expect(throws: TokenKeyError.notASecret(.publicKey)) {
                try await KeySet(file: bytes(bare))
            }
        }
    }

    static let summaries: [(String, String)] = [
        (TestKeys.secret, "HS256 secret"),
        (TestKeys.ecPublic, "P-256 public key"),
        (TestKeys.ecCertificate, "P-256 public key"),
        (
            [TestKeys.edPublic, TestKeys.rsaPublic, TestKeys.ecCertificate, TestKeys.edPublic]
                .joined(separator: "\n"),
            "RSA public key, P-256 public key, 2 Ed25519 public keys"
        ),
    ]

    @Test(arguments: summaries)
    func `a file says what its keys are`(text: String, summary: String) async throws {
        #expect(try await KeySet(file: bytes(text)).summary == summary)
    }

    @Test func `an issuer needs exactly one signing key`() async {
        for (file, error) in [
            (TestKeys.rsaPublic, TokenKeyError.publicKey),
            (TestKeys.edPrivate + "\n" + TestKeys.ecPrivate, .severalKeys),
            (#"{"kty":"OKP","crv":"Ed25519","x":"a"}"#, .publicKey),
        ] {
            await #expect(throws: error) { try await TokenIssuer(file: bytes(file)) }
        }
    }
}
