import Containers
import FoundationEssentials
import PresenceCore
import PresenceWire

/// A token split into its parts (RFC 7515 §7.1). Only the header has been parsed.
struct TokenText {
    let header: TokenHeader
    /// The signed text: the first two parts, unchanged.
    let signedText: [UInt8]
    let signature: [UInt8]
    private let payload: ArraySlice<UInt8>

    init(_ token: [UInt8]) throws(CredentialError) {
        let parts = token.split(
            separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decoded(parts[0]),
            let signature = Base64URL.decoded(parts[2])
        else { throw .malformed }
        header = try decode(TokenHeader.self, head)
        signedText = Array(token[..<parts[1].endIndex])
        payload = parts[1]
        self.signature = signature
        precondition(
            signedText.count + 1 + parts[2].count == token.count, "a part that is not signed")
    }

    /// The claims. To be called after the signature has been verified.
    func claims() throws(CredentialError) -> TokenClaims {
        guard let text = Base64URL.decoded(payload) else { throw .malformed }
        return try decode(TokenClaims.self, text)
    }
}

/// The account that a token claims; nil if the token cannot be parsed.
///
/// Nothing is verified: this is for a client that presents a token, not for a service that receives
/// one.
public func claimedAccount(inToken token: [UInt8]) -> String? {
    let text = try? TokenText(token)
    let claims = try? text?.claims()
    return claims?.sub
}

/// No member may appear twice (RFC 7515, 4; RFC 7519, 4): `JSONDecoder` takes the first, others the
/// last, and a token must not have one account here and another elsewhere.
private func decode<Value: Decodable>(
    _: Value.Type, _ text: [UInt8]
) throws(CredentialError) -> Value {
    do {
        try StrictJSON.check(text)
        return try JSONDecoder().decode(Value.self, from: Data(text))
    } catch {
        throw .malformed
    }
}

/// The members of a header that are used.
struct TokenHeader: Decodable {
    let alg: ExactText
    let kid: ExactText?
    /// Whether there is a `crit` member: no extension is supported. `b64` is one that changes what
    /// is signed (RFC 7797), and must be in `crit`.
    let isCritical: Bool

    private enum CodingKeys: String, CodingKey { case alg, kid, crit, b64 }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        alg = try members.decode(ExactText.self, forKey: .alg)
        kid = try members.decodeUnlessMissing(ExactText.self, forKey: .kid)
        isCritical = members.contains(.crit) || members.contains(.b64)
    }
}

/// The claims that are used. A claim of the wrong JSON type counts as missing, except `nbf`, `aud`
/// and `iss`: a restriction that cannot be parsed must not be ignored. So null is of a wrong type.
struct TokenClaims: Decodable {
    let sub: String?
    let exp: Double?
    let nbf: Double?
    let aud: [ExactText]
    let hasAudience: Bool
    let iss: ExactText?

    private enum CodingKeys: String, CodingKey { case sub, exp, nbf, aud, iss }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        sub = try? members.decodeIfPresent(String.self, forKey: .sub)
        exp = try? members.decodeIfPresent(Double.self, forKey: .exp)
        nbf = try members.decodeUnlessMissing(Double.self, forKey: .nbf)
        hasAudience = members.contains(.aud)
        if let one = try? members.decode(ExactText.self, forKey: .aud) {
            aud = [one]
        } else {
            aud = try members.decodeUnlessMissing([ExactText].self, forKey: .aud) ?? []
        }
        iss = try members.decodeUnlessMissing(ExactText.self, forKey: .iss)
    }
}

extension KeyedDecodingContainer {
    /// The value of a member; nil if there is none. Null is not nothing, as it is for
    /// `decodeIfPresent`: the issuer meant something by it.
    fileprivate func decodeUnlessMissing<Value: Decodable>(
        _ type: Value.Type, forKey key: Key
    ) throws -> Value? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}
