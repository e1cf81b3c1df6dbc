public import HTTPValues

/// What the answer of a push service means for a push.
public enum PushAnswer: Hashable, Sendable {
    /// The push service has accepted it.
    case accepted
    /// There is no such subscription any longer.
    case gone
    /// To be tried again: the push service is down or overloaded.
    case unavailable(RetryAfter?)
    /// To be tried again: there are too many pushes, perhaps for this browser only.
    case tooMany(RetryAfter?)
    /// It will never be accepted.
    case rejected

    /// Whether the push is not to be tried again.
    public var isFinal: Bool {
        switch self {
        case .accepted, .gone, .rejected: true
        case .unavailable, .tooMany: false
        }
    }

    /// Whether the push service may be down for all.
    public var isUnavailable: Bool {
        if case .unavailable = self { true } else { false }
    }

    /// When the push service wants the next attempt, if it says so.
    public var retryAfter: RetryAfter? {
        switch self {
        case .unavailable(let time), .tooMany(let time): time
        case .accepted, .gone, .rejected: nil
        }
    }

    /// The meaning of a status; nil: there was no response.
    public init(status: Int?, _ retryAfter: RetryAfter? = nil) {
        guard let status else {
            self = .unavailable(nil)
            return
        }
        self =
            switch status {
            case 200...299: .accepted
            case 404, 410: .gone
            case 429: .tooMany(retryAfter)
            case 500...: .unavailable(retryAfter)
            // Also a redirect, which could lead to any host.
            default: .rejected
            }
    }
}
