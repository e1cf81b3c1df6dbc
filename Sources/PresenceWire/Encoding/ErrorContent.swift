public import PresenceCore

/// The content of an error, for a caller that writes it in another form than JSON-RPC.
public struct ErrorContent: Hashable, Sendable {
    /// The protocol's number.
    public var code: Int
    /// The fixed word for programs.
    public var reason: String
    /// A sentence.
    public var message: String
    /// The further members of `data`, each as JSON and with a comma before it.
    public var members: [UInt8]
    /// Seconds after which to retry; among the members, too.
    public var retryAfterSeconds: Int?

    /// The content of the error for a rejected request. `effects` has the names that the rejection
    /// refers to.
    public init(_ rejection: Rejection, in effects: borrowing Effects) {
        code = rejection.reason.code
        reason = rejection.reason.rawValue
        var bytes: [UInt8] = []
        bytes.appendMessage(of: rejection)
        message = String(decoding: bytes, as: UTF8.self)
        members = []
        members.appendMembers(of: rejection, in: effects)
        retryAfterSeconds = rejection.retryAfterSeconds
    }
}
