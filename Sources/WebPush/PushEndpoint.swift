public import HTTPValues

/// Where a push service takes messages for one browser (RFC 8030, 2). A program that knows it can
/// send to it, as far as the push service does not ask for more: it is never logged.
public struct PushEndpoint: Hashable, Sendable {
    /// An https URL.
    public let url: OutgoingURL

    /// Nil if this is no https URL, or has a user, a fragment, or characters that no URL may have.
    public init?(_ text: String) {
        guard let url = try? OutgoingURL(text), url.isEncrypted else { return nil }
        self.url = url
    }

    /// The origin (RFC 6454, 6.2), which the audience of a token is.
    var origin: String {
        let host = url.host.utf8.contains(UInt8(ascii: ":")) ? "[\(url.host)]" : url.host
        return "https://\(host)" + (url.port == 443 ? "" : ":\(url.port)")
    }
}
