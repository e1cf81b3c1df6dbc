import PresenceCore
import PresenceXMPP

// Refusals of the engine host as errors of XMPP: the tables of docs/XMPP.md.

extension SASLFailure {
    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .expiredToken: self = .credentialsExpired
        case .overloaded, .shuttingDown, .storeUnavailable, .internal, .rateLimited:
            self = .temporaryAuthFailure
        default: self = .notAuthorized
        }
    }
}

extension NegotiationRefusal {
    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .sessionQuota, .rateLimited, .overloaded, .shuttingDown: self = .resourceConstraint
        case .storeUnavailable, .internal: self = .internalServerError
        case .alreadyLoggedIn, .forbidden, .notPermitted: self = .notAllowed
        default: self = .badRequest
        }
    }
}

extension StanzaError {
    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .missingField, .wrongType, .outOfRange, .tooMany, .reservedValue, .duplicateField:
            self = .badRequest()
        case .invalidName: self = .jidMalformed
        case .tooLong: self = .tooLong("")
        case .notPermitted where refusal.field == .contact:
            self = .badRequest("An account has no relationship with itself.")
        case .forbidden, .notPermitted, .notLoggedIn, .invalidToken, .expiredToken,
            .alreadyLoggedIn:
            self = .forbidden
        case .unknownContact: self = .itemNotFound
        case .rateLimited: self.init(.wait, .policyViolation)
        case .subscriptionQuota, .subscriberQuota, .sessionQuota, .statusQuota, .feedQuota,
            .contactQuota, .requestQuota:
            self.init(.wait, .resourceConstraint)
        case .internal, .storeUnavailable, .overloaded, .shuttingDown:
            self.init(.wait, .internalServerError)
        }
    }
}
