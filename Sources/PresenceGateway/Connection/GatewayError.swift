/// Why a call has no answer.
public enum GatewayError: Error, Hashable, Sendable {
    /// Every connection is in use, and as many wait for one as may. Nothing was asked.
    case overloaded
    /// The answer did not come in time. Whether the request was carried out is not known.
    case timedOut
    /// The request is longer than the service takes. Nothing was asked.
    case requestTooLarge(bytesMax: Int)
    /// What was asked for is longer than is kept for one who asks.
    case answerTooLarge
    /// The service has said that it closes the connection.
    case closed(CloseNotice)
    /// The connection has ended, or there is no service any more.
    case ended
    /// What came is nothing that the service sends.
    case notUnderstood
}

/// What the service says before it closes a connection.
public struct CloseNotice: Hashable, Sendable {
    /// 4400 and up; see the protocol.
    public var code: Int
    /// The same as a word.
    public var reason: String
    /// A sentence for a person.
    public var message: String
    /// Seconds to wait before coming back.
    public var retryAfterSeconds: Int?

    /// A notice that says this.
    public init(code: Int, reason: String, message: String, retryAfterSeconds: Int? = nil) {
        self.code = code
        self.reason = reason
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
    }
}
