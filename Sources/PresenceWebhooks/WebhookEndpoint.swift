/// The URL that a webhook posts to, and the secret that it signs with.
public struct WebhookEndpoint: Sendable {
    /// Its name in the log, in metrics and on disk.
    public let name: String
    /// Never shown: it may contain a secret.
    let url: String
    let secret: [UInt8]

    /// The shortest and the longest secret, in bytes.
    public static let secretBytes = 16...512
    /// The longest name.
    public static let nameBytesMax = 32
    private static let urlBytesMax = 2_048

    /// An endpoint.
    /// - Throws: what is wrong with it, in one sentence that contains no secret.
    public init(name: String, url: String, secret: [UInt8]) throws(WebhookEndpointError) {
        let isName = name.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, 1...Self.nameBytesMax ~= name.utf8.count else { throw .name(name) }
        if let reason = Self.invalidity(of: url) { throw .url(name, reason) }
        guard Self.secretBytes.contains(secret.count) else {
            throw .secret(name, byteCount: secret.count)
        }
        self.name = name
        self.url = url
        self.secret = secret
    }

    private static func invalidity(of url: String) -> StaticString? {
        let scheme = ["http://", "https://"].first { url.lowercased().hasPrefix($0) }
        guard let scheme else { return "it must begin with http:// or https://" }
        guard url.utf8.count <= urlBytesMax else { return "it has more than 2048 bytes" }
        guard url.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return "it must not contain spaces, control characters or non-ASCII characters"
        }
        guard !url.contains("#") else { return "it must not have a fragment" }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            return "it must not contain a user or a password; receivers verify the signature"
        }
        let hasBrackets = authority.hasPrefix("[")
        let end = hasBrackets ? authority.firstIndex(of: "]") : authority.firstIndex(of: ":")
        guard !hasBrackets || end != nil else { return "its IPv6 address has no closing bracket" }
        let host = authority[..<(end ?? authority.endIndex)]
        guard host.count > (hasBrackets ? 1 : 0) else { return "it has no host" }
        let rest = authority[(end ?? authority.endIndex)...].drop { $0 == "]" }
        guard !rest.isEmpty else { return nil }
        let port = rest.first == ":" ? UInt16(rest.dropFirst()) : nil
        return port ?? 0 > 0 ? nil : "its port must be 1 to 65535"
    }
}

/// Why the settings of an endpoint are invalid.
public enum WebhookEndpointError: Error, Equatable, CustomStringConvertible {
    case name(String)
    case url(String, StaticString)
    case secret(String, byteCount: Int)

    /// One sentence for the operator.
    public var description: String {
        switch self {
        case .name(let name):
            "The webhook name \(name.prefix(64)) is invalid; use 1 to "
                + "\(WebhookEndpoint.nameBytesMax) of a to z, 0 to 9 and -."
        case .url(let name, let reason):
            "The URL of webhook \(name) is invalid: \(reason)."
        case .secret(let name, let count):
            "The secret of webhook \(name) has \(count) bytes; it must have "
                + "\(WebhookEndpoint.secretBytes.lowerBound) to "
                + "\(WebhookEndpoint.secretBytes.upperBound)."
        }
    }

    /// Whether both are the same.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.description == rhs.description }
}
