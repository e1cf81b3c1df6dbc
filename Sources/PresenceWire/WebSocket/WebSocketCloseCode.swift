/// Why a WebSocket is closed, by RFC 6455, 7.4.1. The service's own reasons have codes of their own
/// in the range for private use: 4400 and up.
public enum WebSocketCloseCode: Int, CaseIterable, Sendable {
    /// The purpose of the connection is fulfilled.
    case normal = 1000
    /// A frame that RFC 6455 does not allow.
    case protocolError = 1002
    /// A binary message.
    case unsupportedData = 1003
    /// A text that is not UTF-8.
    case invalidText = 1007
    /// A message of too many fragments.
    case policyViolation = 1008
    /// A message that is too long.
    case tooBig = 1009

    /// The word that is sent with the code.
    public var word: StaticString {
        switch self {
        case .normal: ""
        case .protocolError: "protocol_error"
        case .unsupportedData: "binary_message"
        case .invalidText: "invalid_utf8"
        case .policyViolation: "too_many_fragments"
        case .tooBig: "message_too_long"
        }
    }

    /// What was wrong, for people.
    public var sentence: StaticString {
        switch self {
        case .normal: ""
        case .protocolError: "A frame violated RFC 6455."
        case .unsupportedData: "A message was binary; send text."
        case .invalidText: "A text message was not UTF-8."
        case .policyViolation: "A message had too many fragments."
        case .tooBig: "A message was too long."
        }
    }

    /// Whether a peer may send a code in a close frame: RFC 6455, 7.4, and IANA's registry.
    static func isValid(_ code: Int) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
