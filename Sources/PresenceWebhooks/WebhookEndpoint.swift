public import HTTPValues

/// What a webhook posts.
public enum WebhookStream: String, CaseIterable, Sendable {
    /// The events of the feed.
    case events
    /// The messages that no device has taken in time.
    case undelivered
}

/// The URL that a webhook posts to, and the secret that it signs with.
public struct WebhookEndpoint: Sendable {
    /// Its name in the log, in metrics and on disk.
    public let name: String
    /// Never shown: it may contain a secret.
    let url: OutgoingURL
    let secret: [UInt8]
    /// What it posts.
    let stream: WebhookStream

    /// The shortest and the longest secret, in bytes.
    public static let secretBytes = 16...512
    /// The longest name.
    public static let nameBytesMax = 32

    /// An endpoint.
    /// - Throws: what is wrong with it, in one sentence that contains no secret.
    public init(
        name: String, url: String, secret: [UInt8], stream: WebhookStream = .events
    ) throws(WebhookEndpointError) {
        let isName = name.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, 1...Self.nameBytesMax ~= name.utf8.count else { throw .name(name) }
        do throws(OutgoingURLError) {
            self.url = try OutgoingURL(url)
        } catch {
            throw .url(name, error)
        }
        guard Self.secretBytes.contains(secret.count) else {
            throw .secret(name, byteCount: secret.count)
        }
        self.name = name
        self.secret = secret
        self.stream = stream
    }
}

/// Why the settings of an endpoint are invalid.
public enum WebhookEndpointError: Error, Equatable, CustomStringConvertible {
    case name(String)
    case url(String, OutgoingURLError)
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
}
