import PresenceCore
import PresenceXMPP

extension SASLFailure {
    /// The failure for a token that was refused.
    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .expiredToken: self = .credentialsExpired
        case .overloaded, .shuttingDown, .storeUnavailable, .internal, .rateLimited:
            self = .temporaryAuthFailure
        default: self = .notAuthorized
        }
    }
}
