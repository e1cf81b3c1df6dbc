public import PresenceCore

/// Why a frame is no request that can be carried out, and whom to tell.
public struct RequestFault: Error, Hashable, Sendable {
    /// `none`: nobody is told.
    public var id: RequestID
    /// What is wrong.
    public var cause: Cause
    /// What was asked, where that much could be read.
    public var kind: CommandKind?

    /// A fault.
    public init(id: RequestID, cause: Cause, kind: CommandKind? = nil) {
        self.id = id
        self.cause = cause
        self.kind = kind
    }

    /// What is wrong: the envelope or what is in it.
    public enum Cause: Hashable, Sendable {
        case envelope(EnvelopeFault)
        case refused(Refusal)
    }
}

/// What is wrong with a request as such.
public struct EnvelopeFault: Error, Hashable, Sendable {
    /// The fixed word for programs.
    public var reason: Reason
    /// Which member is to blame.
    public var field: Field?
    /// The bound that was met.
    public var limit: Int?

    /// A fault.
    public init(_ reason: Reason, field: Field? = nil, limit: Int? = nil) {
        self.reason = reason
        self.field = field
        self.limit = limit
    }

    /// The fixed words, as they stand in `data.reason` on the wire.
    public enum Reason: String, CaseIterable, Sendable {
        case invalidJSON = "invalid_json"
        case invalidUTF8 = "invalid_utf8"
        case tooDeep = "too_deep"
        case invalidRequest = "invalid_request"
        case batchNotSupported = "batch_not_supported"
        case duplicateField = "duplicate_field"
        case unknownMethod = "unknown_method"

        /// JSON-RPC's number.
        public var code: Int {
            switch self {
            case .invalidJSON, .invalidUTF8, .tooDeep: -32_700
            case .invalidRequest, .batchNotSupported, .duplicateField: -32_600
            case .unknownMethod: -32_601
            }
        }
    }

    /// The members of the envelope.
    public enum Field: String, CaseIterable, Sendable {
        case jsonrpc, id, method, params
    }
}
