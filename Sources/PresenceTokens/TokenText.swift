import FoundationEssentials

/// A token taken apart (RFC 7515 §7.1). Only the header has been looked at.
struct TokenText {
    let header: TokenHeader
    /// What is signed: the first two parts as they stand.
    let signedText: [UInt8]
    let signature: [UInt8]
    private let payload: ArraySlice<UInt8>

    init(_ token: [UInt8]) throws(TokenFault) {
        let parts = token.split(
            separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        header = try decode(TokenHeader.self, head)
        signedText = Array(token[..<parts[1].endIndex])
        payload = parts[1]
        self.signature = signature
    }

    /// What the token says; to be asked for when the signature holds.
    func claims() throws(TokenFault) -> TokenClaims {
        guard let text = Base64URL.decode(payload) else { throw .malformed }
        return try decode(TokenClaims.self, text)
    }
}

/// Whose a token says that it is; nil where it cannot be read.
///
/// Nothing is checked: this is for whoever is about to show a token, not for whoever is shown one.
public func claimedAccount(inToken token: [UInt8]) -> String? {
    let text = try? TokenText(token)
    let claims = try? text?.claims()
    return claims?.sub
}

private func decode<Value: Decodable>(_: Value.Type, _ text: [UInt8]) throws(TokenFault) -> Value {
    do {
        return try JSONDecoder().decode(Value.self, from: Data(text))
    } catch {
        throw .malformed
    }
}

/// What is looked at in a header.
struct TokenHeader: Decodable {
    let alg: String
    let kid: String?
    /// Whether it demands anything: we understand no extension.
    let isCritical: Bool

    private enum CodingKeys: String, CodingKey { case alg, kid, crit }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        alg = try members.decode(String.self, forKey: .alg)
        kid = try members.decodeIfPresent(String.self, forKey: .kid)
        isCritical = members.contains(.crit)
    }
}

/// What is looked at in the claims. What is of another kind counts as missing, but for `nbf`,
/// `aud` and `iss`: something there that nobody can read must not count as nothing.
struct TokenClaims: Decodable {
    let sub: String?
    let exp: Double?
    let nbf: Double?
    let aud: [String]
    let hasAudience: Bool
    let iss: String?

    private enum CodingKeys: String, CodingKey { case sub, exp, nbf, aud, iss }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        sub = try? members.decodeIfPresent(String.self, forKey: .sub)
        exp = try? members.decodeIfPresent(Double.self, forKey: .exp)
        nbf = try members.decodeIfPresent(Double.self, forKey: .nbf)
        hasAudience = members.contains(.aud)
        if let one = try? members.decode(String.self, forKey: .aud) {
            aud = [one]
        } else {
            aud = try members.decodeIfPresent([String].self, forKey: .aud) ?? []
        }
        iss = try members.decodeIfPresent(String.self, forKey: .iss)
    }
}
