import Containers
import Crypto
import Foundation
import NIOPosix
import OutgoingHTTP
import PresenceCore
import TaskLoops
import Testing

@testable import PresenceTokens

/// 2025-11-21, in seconds and milliseconds since 1970.
let nowSeconds: Int64 = 1_763_700_000
let now = nowSeconds * 1_000

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A token of this header and these claims, in JSON, signed with the secret.
func token(
    header: String = #"{"alg":"HS256"}"#, _ claims: String, secret: String = TestKeys.secret
) async throws -> [UInt8] {
    let key = try await TokenKey(secret: bytes(secret), kid: nil)
    let text = Base64URL.encoded(bytes(header)) + "." + Base64URL.encoded(bytes(claims))
    return bytes(text + "." + Base64URL.encoded(try key.sign(bytes(text))))
}

/// A judge by the secret.
func verifier(_ rules: TokenRules = TokenRules()) async throws -> TokenVerifier {
    TokenVerifier(keys: try await KeySet(file: bytes(TestKeys.secret)), rules: rules)
}

extension TokenVerifier {
    /// What is wrong with the token; nil: nothing.
    func error(_ token: [UInt8], at now: Int64 = now) async -> CredentialError? {
        do throws(CredentialError) {
            _ = try await verify(token, at: now)
            return nil
        } catch {
            return error
        }
    }
}

/// A JWK set of Ed25519 keys with these names, and what signs for each.
/// Where fetches of the tests run.
let testLoop = TaskLoop(MultiThreadedEventLoopGroup.singleton.next())
let testHTTP = OutgoingHTTP(on: testLoop)

struct PublishedKeys {
    let json: [UInt8]
    let makers: [String: TokenIssuer]

    init(_ kids: [String]) async throws {
        var keys: [String] = []
        var makers: [String: TokenIssuer] = [:]
        for kid in kids {
            let key = Curve25519.Signing.PrivateKey()
            let x = Base64URL.encoded([UInt8](key.publicKey.rawRepresentation))
            let d = Base64URL.encoded([UInt8](key.rawRepresentation))
            let open = #""kty":"OKP","crv":"Ed25519","kid":"\#(kid)","x":"\#(x)""#
            keys.append("{\(open)}")
            makers[kid] = try await TokenIssuer(file: bytes(#"{\#(open),"d":"\#(d)"}"#))
        }
        json = bytes(#"{"keys":[\#(keys.joined(separator: ","))]}"#)
        self.makers = makers
    }

    func token(_ kid: String, _ account: String = "alice") throws -> [UInt8] {
        let claims = TokenIssuer.Claims(
            account: account, issued: nowSeconds, expires: nowSeconds + 600)
        return bytes(try #require(makers[kid]).token(claims))
    }
}
