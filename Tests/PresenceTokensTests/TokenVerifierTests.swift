import Containers
import PresenceCore
import Testing

@testable import PresenceTokens

@Suite struct TokenVerifierTests {
    static let good = #"{"sub":"alice","exp":1763700600}"#

    @Test func `a token has an account and an expiry`() async throws {
        let verified = try await verifier().verify(try await token(Self.good), at: now)
        #expect(verified.account == "alice")
        #expect(verified.expires == 1_763_700_600_000)
        #expect(verified.acceptedUntil == 1_763_700_630_000)
    }

    @Test func `a token signed with another secret is invalid`() async throws {
        let other = try await token(Self.good, secret: "another secret of as many bytes, too")
        #expect(try await verifier().error(other) == .signature)
    }

    @Test(
        arguments: [
            (#"{"alg":"none"}"#, .algorithm), (#"{"alg":"None"}"#, .algorithm),
            (#"{"alg":"HS512"}"#, .algorithm), (#"{"alg":"hs256"}"#, .algorithm),
            (#"{"alg":"RS256"}"#, .otherAlgorithm), (#"{"alg":"EdDSA"}"#, .otherAlgorithm),
            (#"{"alg":"HS256","kid":"x"}"#, .unknownKey),
            (#"{"alg":"HS256","kid":""}"#, .unknownKey),
            (#"{"alg":"HS256","crit":["b64"],"b64":false}"#, .critical),
            (#"{"alg":"HS256","crit":[]}"#, .critical),
            (#"{"alg":"HS256","crit":null}"#, .critical),
            (#"{"alg":"HS256","b64":false}"#, .critical),
            (#"{"alg":"HS256","kid":null}"#, .malformed),
            (#"{"kid":"x"}"#, .malformed), (#"{"alg":256}"#, .malformed), ("[]", .malformed),
            (#"{"alg":"HS256","kid":5}"#, .malformed), ("{", .malformed), ("", .malformed),
        ] as [(String, CredentialError)])
    func `an unsupported header is rejected`(header: String, error: CredentialError) async throws {
        #expect(try await verifier().error(try await token(header: header, Self.good)) == error)
    }

    /// Foundation takes the first, other parsers the last.
    @Test(
        arguments: [
            (nil, #"{"sub":"mallory","exp":1763700600,"sub":"victim"}"#),
            (nil, #"{"sub":"alice","exp":1763700600,"s\u0075b":"alice"}"#),
            (nil, #"{"sub":"alice","exp":1763700600,"exp":1}"#),
            (nil, #"{"sub":"alice","exp":1763700600,"nbf":0,"nbf":0}"#),
            (nil, #"{"sub":"alice","exp":1763700600,"x":{"y":[{"z":1,"z":2}]}}"#),
            (#"{"alg":"HS256","alg":"HS256"}"#, good), (#"{"alg":"none","alg":"HS256"}"#, good),
            (#"{"alg":"HS256","typ":"JWT","typ":"x"}"#, good),
        ] as [(String?, String)])
    func `a token with a member twice is malformed`(header: String?, claims: String) async throws {
        let token = try await token(header: header ?? #"{"alg":"HS256"}"#, claims)
        #expect(try await verifier().error(token) == .malformed)
    }

    @Test(arguments: ["nbf", "iss", "aud", "sub", "exp"])
    func `a claim that is null is not a claim that is left out`(name: String) async throws {
        let claims = ["sub": #""alice""#, "exp": "1763700600"].merging([name: "null"]) { $1 }
        let text = claims.map { "\"\($0)\":\($1)" }.joined(separator: ",")
        let expected: CredentialError =
            switch name {
            case "sub": .subject
            case "exp": .noExpiry
            default: .malformed
            }
        #expect(try await verifier().error(try await token("{\(text)}")) == expected)
    }

    /// U+212B is U+00C5 for Swift's strings, and U+212A is K.
    @Test func `names of a token are bytes`() async throws {
        let verifier = try await verifier(TokenRules(audience: "\u{C5}", issuer: "\u{C5}K"))
        func error(_ audience: String, _ issuer: String) async throws -> CredentialError? {
            let claims = #"{"sub":"a","exp":1763700600,"aud":\#(audience),"iss":"\#(issuer)"}"#
            return await verifier.error(try await token(claims))
        }
        #expect(try await error("\"\u{C5}\"", "\u{C5}K") == nil)
        #expect(try await error("[\"x\",\"\\u00c5\"]", "\u{C5}K") == nil)
        #expect(try await error("\"\u{212B}\"", "\u{C5}K") == .audience)
        #expect(try await error("[\"A\u{30A}\"]", "\u{C5}K") == .audience)
        #expect(try await error("\"\u{C5}\"", "\u{212B}K") == .issuer)
        #expect(try await error("\"\u{C5}\"", "\u{C5}\u{212A}") == .issuer)
    }

    @Test func `the name of a key is its bytes`() async throws {
        let published = try await PublishedKeys(["\u{C5}", "A\u{30A}"])
        let keys = try await KeySet(file: published.json)
        #expect(keys.keys.count == 2)
        for kid in ["\u{C5}", "A\u{30A}"] {
            guard case .keys(let found) = keys.search(kid: ExactText(kid), .edDSA) else {
                Issue.record("no key")
                continue
            }
            #expect(found.count == 1)
        }
        guard case .unknownName = keys.search(kid: "\u{212B}", .edDSA) else {
            Issue.record("a key of another name")
            return
        }
    }

    @Test(
        arguments: [
            (#"{"kty":"oct","k":"AA","kty":"oct"}"#, .duplicateMember),
            (#"{"keys":[],"keys":[]}"#, .duplicateMember),
            (#"{"keys":[{"kty":"OKP","x":"A","x":"B"}]}"#, .duplicateMember),
            (#"[{"kty":"OKP","crv":"Ed25519","x":"AAAAAAAAAAAAAAAAAAAA"}]"#, .brokenJSON),
            (#"{"kty":"O\u212aP","crv":"Ed25519","x":"AA"}"#, nil),
        ] as [(String, TokenKeyError?)])
    func `a key set is read in one way only`(json: String, expected: TokenKeyError?) async throws {
        let error = await #expect(throws: TokenKeyError.self) {
            try await KeySet(file: bytes(json))
        }
        if let expected { #expect(error == expected) }
    }

    @Test func `an unsigned token is invalid, whatever its header says`() async throws {
        let whole = try await token(Self.good)
        let parts = whole.split(separator: 46).map { String(decoding: $0, as: UTF8.self) }
        let none = Base64URL.encoded(bytes(#"{"alg":"none"}"#))
        let verifier = try await verifier()
        #expect(await verifier.error(bytes("\(parts[0]).\(parts[1]).")) == .signature)
        #expect(await verifier.error(bytes("\(none).\(parts[1]).")) == .algorithm)
        for text in [
            "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])",
            "\(parts[0]).\(parts[1]).\(parts[2]).x", "\(parts[0]).\(parts[1]).\(parts[2])=",
            "\(parts[0]) .\(parts[1]).\(parts[2])", "é.é.é",
        ] {
            #expect(await verifier.error(bytes(text)) == .malformed, "\(text)")
        }
    }

    @Test func `a token with any byte changed is invalid`() async throws {
        let whole = try await token(Self.good)
        let verifier = try await verifier()
        for place in whole.indices {
            var other = whole
            other[place] ^= 1
            // The last character of the signature has bits that stand for nothing.
            guard place < whole.count - 1 else { continue }
            #expect(await verifier.error(other) != nil, "byte \(place)")
        }
    }

    @Test func `a token expires thirty seconds after its exp`() async throws {
        let verifier = try await verifier()
        let token = try await token(Self.good)
        #expect(await verifier.error(token, at: 1_763_700_629_999) == nil)
        #expect(await verifier.error(token, at: 1_763_700_630_000) == .expired)
        #expect(await verifier.error(token, at: .max) == .expired)
    }

    @Test func `a token is valid from thirty seconds before its nbf`() async throws {
        let verifier = try await verifier()
        let token = try await token(#"{"sub":"alice","exp":1763700600,"nbf":1763700030}"#)
        #expect(await verifier.error(token, at: now) == nil)
        #expect(await verifier.error(token, at: now - 1) == .notYetValid)
    }

    @Test(
        arguments: [
            (#"{"sub":"alice"}"#, .noExpiry), (#"{"sub":"alice","exp":null}"#, .noExpiry),
            (#"{"sub":"alice","exp":"1763700600"}"#, .noExpiry),
            (#"{"sub":"alice","exp":1e300}"#, .noExpiry),
            (#"{"sub":"alice","exp":-1}"#, .expired),
            (#"{"sub":"alice","exp":1763700600.5}"#, nil), (#"{"sub":"alice","exp":2e9}"#, nil),
            (#"{"sub":"alice","exp":1763700600,"nbf":"0"}"#, .malformed),
            (#"{"sub":"alice","exp":1763700600,"nbf":1e300}"#, .notYetValid),
            (#"{"sub":"alice","exp":1763700600,"iss":5}"#, .malformed), ("5", .malformed),
            (#"{"sub":"alice","exp":1763700600,"more":{"a":[1,2,{"b":null}]}}"#, nil),
        ] as [(String, CredentialError?)])
    func `claims must be present and of the right type`(
        claims: String, error: CredentialError?
    ) async throws {
        #expect(try await verifier().error(try await token(claims)) == error)
    }

    static let names: [(String, Bool)] = [
        ("a", true), ("Bob Ross", true), ("é", true), (String(repeating: "x", count: 128), true),
        ("", false), (" a", false), ("a ", false), (#"a\u0000"#, false), (#"a\u001fb"#, false),
        (#"a\u007f"#, false), (#"\u0080"#, false), (#"\u009f"#, false), (#"\u00a0"#, true),
        (String(repeating: "é", count: 65), false), (#"\ud800"#, false),
    ]

    @Test(arguments: names)
    func `an account follows the rule for names`(name: String, isOne: Bool) async throws {
        let error = try await verifier().error(
            try await token(#"{"sub":"\#(name)","exp":1763700600}"#))
        #expect((error == nil) == isOne, "\(name)")
    }

    @Test(arguments: [#""sub":5,"#, #""sub":null,"#, #""sub":["a"],"#, ""])
    func `a token without an account is invalid`(sub: String) async throws {
        let claims = "{" + sub + #""exp":1763700600}"#
        #expect(try await verifier().error(try await token(claims)) == .subject)
    }

    @Test(
        arguments: [
            ("", .audience), (#","aud":"chat""#, nil), (#","aud":["mail","chat"]"#, nil),
            (#","aud":"mail""#, .audience), (#","aud":[]"#, .audience),
            (#","aud":"chatter""#, .audience), (#","aud":{"a":1}"#, .malformed),
        ] as [(String, CredentialError?)])
    func `a token for another audience is invalid`(audience: String, error: CredentialError?)
        async throws
    {
        let verifier = try await verifier(TokenRules(audience: "chat"))
        let claims = #"{"sub":"alice","exp":1763700600\#(audience)}"#
        #expect(await verifier.error(try await token(claims)) == error)
    }

    @Test func `without a configured audience a token with one is invalid`() async throws {
        let claims = #"{"sub":"alice","exp":1763700600,"aud":"mail"}"#
        #expect(try await verifier().error(try await token(claims)) == .audience)
    }

    @Test(
        arguments: [
            ("", .issuer), (#","iss":"us""#, nil), (#","iss":"US""#, .issuer),
        ] as [(String, CredentialError?)])
    func `a configured issuer is required`(issuer: String, error: CredentialError?)
        async throws
    {
        let verifier = try await verifier(TokenRules(issuer: "us"))
        let claims = #"{"sub":"alice","exp":1763700600\#(issuer)}"#
        #expect(await verifier.error(try await token(claims)) == error)
    }
}
