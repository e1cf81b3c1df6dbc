import PresenceCore

/// How a connection ended.
enum Ending: String, CaseIterable, Sendable {
    case protocolViolation = "protocol_violation"
    case loginTimeout = "login_timeout"
    case tokenExpired = "token_expired"
    case idleTimeout = "idle_timeout"
    case replaced
    case kicked
    case tooSlow = "too_slow"
    case shuttingDown = "shutting_down"
    case overloaded
    /// The client logged out.
    case logout
    /// The peer or the network ended it.
    case lost

    init(_ reason: CloseReason) {
        switch reason {
        case .protocolViolation: self = .protocolViolation
        case .loginTimeout: self = .loginTimeout
        case .tokenExpired: self = .tokenExpired
        case .idleTimeout: self = .idleTimeout
        case .replaced: self = .replaced
        case .kicked: self = .kicked
        case .tooSlow: self = .tooSlow
        case .shuttingDown: self = .shuttingDown
        case .overloaded: self = .overloaded
        }
    }
}
