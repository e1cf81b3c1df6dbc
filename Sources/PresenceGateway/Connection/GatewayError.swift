/// Why a call has no response.
public enum GatewayError: Error, Hashable, Sendable {
    /// All connections are in use, and the limit on waiting requests is reached. Nothing was sent.
    case overloaded
    /// The response did not arrive in time. The request may or may not have been carried out.
    case timedOut
    /// The request is larger than the service accepts. Nothing was sent.
    case requestTooLarge(bytesMax: Int)
    /// The response is larger than the limit.
    case answerTooLarge
    /// The service has announced that it closes the connection.
    case closed(CloseNotice)
    /// The connection has ended, or the service has shut down.
    case ended
    /// The service sent a message of an unknown form.
    case notUnderstood
}

/// The content of a `close` notification.
public struct CloseNotice: Hashable, Sendable {
    /// 4400 and up; see the protocol.
    public var code: Int
    /// The code as a word.
    public var reason: String
    /// A human-readable sentence.
    public var message: String
    /// Seconds to wait before reconnecting.
    public var retryAfterSeconds: Int?

    /// A notice with this content.
    public init(code: Int, reason: String, message: String, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.reason = reason
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }
}
