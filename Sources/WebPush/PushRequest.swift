import Crypto
import FoundationEssentials
public import HTTPValues

/// A request to a push service (RFC 8030, 5).
public struct PushRequest: Sendable {
    /// The longest time that push services keep a message: 28 days. FCM rejects more.
    static let secondsMax: Int64 = 2_419_200

    /// Where it is posted to.
    public let url: OutgoingURL
    /// Its headers.
    public let headers: [(String, String)]
    /// Its body, encrypted.
    public let body: [UInt8]

    /// A request for one browser, with a key and a salt of its own. `now`: milliseconds since 1970.
    public init(
        _ plaintext: [UInt8], of message: PushMessage, to subscription: PushSubscription,
        _ tokens: inout VAPIDTokens, at now: Int64
    ) throws {
        url = subscription.endpoint.url
        let seconds = min(max(0, (message.expires - now) / 1_000), Self.secondsMax)
        headers = [
            ("Content-Type", "application/octet-stream"), ("Content-Encoding", "aes128gcm"),
            ("TTL", "\(seconds)"), ("Urgency", "high"),
            // A repeated push replaces the one before it, as long as the browser has not got it.
            ("Topic", message.message),
            (
                "Authorization",
                try tokens.authorization(for: subscription.endpoint, at: now / 1_000)
            ),
            ("User-Agent", "porchlight"),
        ]
        var random = SystemRandomNumberGenerator()
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        body = try PushEncryption.body(
            plaintext, for: subscription, ephemeral: P256.KeyAgreement.PrivateKey(), salt: salt)
    }
}
