/// The one message of the mechanism PLAIN (RFC 4616).
public struct PlainMessage: Hashable, Sendable {
    /// The name to act as; empty: the one that is authenticated.
    public let authorization: [UInt8]
    /// The name to authenticate as.
    public let name: [UInt8]
    /// The password, as it was typed, or a token.
    public let secret: [UInt8]

    /// Reads `[authzid] NUL authcid NUL passwd`: UTF-8, name and password not empty.
    public init(reading message: [UInt8]) throws(SASLError) {
        let parts = message.split(separator: 0, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count <= SASLLimits.authorizationBytesMax,
            (1...SASLLimits.nameBytesMax).contains(parts[1].count),
            (1...SASLLimits.secretBytesMax).contains(parts[2].count),
            String(validating: message, as: UTF8.self) != nil
        else { throw .malformed }
        authorization = Array(parts[0])
        name = Array(parts[1])
        secret = Array(parts[2])
    }
}

extension PlainMessage: CustomStringConvertible {
    /// Never the secret.
    public var description: String { "PlainMessage" }
}
