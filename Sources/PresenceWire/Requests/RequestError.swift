public import PresenceCore

/// Why a frame is rejected, and the `id` to report that to.
public struct RequestError: Error, Hashable, Sendable {
    /// `none`: no response is sent.
    public var id: RequestID
    /// What is wrong.
    public var cause: Cause
    /// The method, if it could be decoded.
    public var method: MethodName?

    /// What is wrong: the request object or its parameters.
    public enum Cause: Hashable, Sendable {
        case envelope(EnvelopeError)
        case rejected(Rejection)
    }
}

/// What is wrong with a request object.
public struct EnvelopeError: Error, Hashable, Sendable {
    /// The fixed word for programs.
    public var reason: Reason
    /// The invalid member.
    public var field: Field?
    /// The limit that was exceeded.
    public var limit: Int?
    /// The byte of the body, from 0, at which it cannot be JSON.
    public var position: Int?

    /// An error.
    public init(
        _ reason: Reason, field: Field? = nil, limit: Int? = nil, position: Int? = nil
    ) {
        self.reason = reason
        self.field = field
        self.limit = limit
        self.position = position
    }

    /// The fixed words in `data.reason` on the wire.
    public enum Reason: String, CaseIterable, Sendable {
        case invalidJSON = "invalid_json"
        case invalidUTF8 = "invalid_utf8"
        case tooDeep = "too_deep"
        case invalidRequest = "invalid_request"
        case batchNotSupported = "batch_not_supported"
        case duplicateField = "duplicate_field"
        case unknownMethod = "unknown_method"

        /// The error code of JSON-RPC.
        public var code: Int {
            switch self {
            case .invalidJSON, .invalidUTF8, .tooDeep: -32_700
            case .invalidRequest, .batchNotSupported, .duplicateField: -32_600
            case .unknownMethod: -32_601
            }
        }
    }

    /// The members of the request object.
    public enum Field: String, CaseIterable, Sendable {
        case jsonrpc, id, method, params
    }
}
