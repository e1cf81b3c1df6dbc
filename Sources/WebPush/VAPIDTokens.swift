import Containers
import Crypto
import FoundationEssentials
import HTTPValues

/// The contact to which a push service can report problems: a `mailto:` or `https:` URL (RFC 8292,
/// 2.1).
public struct PushSubject: Hashable, Sendable {
    /// As it was written.
    public let text: String

    /// Nil if it is neither.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= OutgoingURL.byteCountMax,
            bytes.allSatisfy({ 0x21...0x7E ~= $0 && !#""\<>"#.utf8.contains($0) })
        else { return nil }
        if text.hasPrefix("mailto:") {
            let parts = text.dropFirst("mailto:".count).split(
                separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        } else {
            guard text.hasPrefix("https://"), (try? OutgoingURL(text)) != nil else { return nil }
        }
        self.text = text
    }
}

/// Signed tokens that say who sends (RFC 8292), one for each origin of a push service.
public struct VAPIDTokens: Sendable {
    /// Seconds that a token is valid; a push service accepts at most a day.
    static let validSeconds: Int64 = 12 * 3_600
    /// Seconds before its end from which a token is not used: clocks differ.
    static let marginSeconds: Int64 = 3_600
    /// A wildcard may stand for any number of origins, which clients choose.
    static let originsMax = 1_000

    private let key: VAPIDKey
    private let publicText: String
    private let subject: PushSubject
    private var tokens: [String: (text: String, expires: Int64)] = [:]

    /// How many are kept.
    var count: Int { tokens.count }

    /// Tokens of a key.
    public init(_ key: VAPIDKey, _ subject: PushSubject) {
        self.key = key
        self.subject = subject
        publicText = key.publicText
    }

    /// The value of `Authorization` for an endpoint. `now`: seconds since 1970.
    mutating func authorization(for endpoint: PushEndpoint, at now: Int64) throws -> String {
        "vapid t=\(try token(for: endpoint.origin, at: now)), k=\(publicText)"
    }

    private mutating func token(for origin: String, at now: Int64) throws -> String {
        let isUsable = { (expires: Int64) in
            now + Self.marginSeconds < expires && expires <= now + Self.validSeconds
        }
        if let token = tokens[origin], isUsable(token.expires) { return token.text }
        let expires = now + Self.validSeconds
        // Neither the origin nor the subject has characters that JSON escapes.
        let claims = #"{"aud":"\#(origin)","exp":\#(expires),"sub":"\#(subject.text)"}"#
        let parts = [#"{"typ":"JWT","alg":"ES256"}"#, claims]
        let signed = parts.map { Base64URL.encoded(Array($0.utf8)) }.joined(separator: ".")
        let signature = try key.key.signature(for: Array(signed.utf8))
        let text = "\(signed).\(Base64URL.encoded([UInt8](signature.rawRepresentation)))"
        if tokens.count >= Self.originsMax { tokens = [:] }
        tokens[origin] = (text, expires)
        return text
    }
}
