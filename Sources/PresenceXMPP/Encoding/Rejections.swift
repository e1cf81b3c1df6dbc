// What the engine and the service reject, in the errors of XMPP: the tables of docs/XMPP.md.

public import PresenceCore

extension StanzaError {
    /// The error for a request that was rejected.
    public init(_ rejection: Rejection) {
        switch rejection.reason {
        case .missingField, .wrongType, .outOfRange, .tooMany, .reservedValue, .duplicateField,
            .nothingSet, .invalidAlias, .aliasTooLong, .invalidTag, .tagTooLong, .tooManyTags,
            .labelsTooLong:
            self = .badRequest()
        case .invalidName: self = .jidMalformed
        case .tooLong: self = .tooLong("")
        case .notPermitted where rejection.field == .contact:
            self = .badRequest("An account has no relationship with itself.")
        case .notLoggedIn, .invalidToken, .expiredToken, .invalidPassword, .alreadyLoggedIn,
            .forbidden, .readOnlyKey, .notPermitted:
            self = .forbidden
        case .unknownContact, .noRecipients: self = .itemNotFound
        case .rateLimited: self.init(.wait, .policyViolation, rejection.wordsOfWait)
        case .subscriptionQuota, .subscriberQuota, .sessionQuota, .statusQuota, .feedQuota,
            .contactQuota, .requestQuota, .inboxFull, .senderQuota:
            let limit = rejection.limit.map { "The limit is \($0) \(rejection.wordsOfQuota)." }
            self.init(.wait, .resourceConstraint, limit ?? "")
        case .directedQuota:
            let limit = rejection.limit ?? Limits.directedAddressesMax
            self.init(
                .wait, .resourceConstraint,
                "Directed presence is limited to \(limit) addresses at a time. "
                    + "Send unavailable to one of them first.")
        case .internal, .storeUnavailable, .overloaded, .shuttingDown:
            self.init(.wait, .internalServerError, rejection.wordsOfWait)
        }
    }
}

extension Rejection {
    /// What a quota counts, of what; empty: another reason.
    fileprivate var wordsOfQuota: String {
        switch reason {
        case .subscriptionQuota: "subscriptions of an account"
        case .subscriberQuota: "subscribers of an account"
        case .sessionQuota: "sessions of an account"
        case .statusQuota: "statuses of an account"
        case .feedQuota: "feeds"
        case .contactQuota where field == .name:
            "bytes in the names and groups of all contacts of an account"
        case .contactQuota: "contacts of an account"
        case .requestQuota: "unanswered requests to an account"
        case .inboxFull where field == .body: "bytes in messages for an account"
        case .inboxFull: "messages for an account"
        case .senderQuota where field == .body: "bytes in messages of an account"
        case .senderQuota: "messages of an account"
        default: ""
        }
    }

    /// How long to wait before another attempt; empty if that would not help.
    public var wordsOfWait: String { retryAfterSeconds.map { "Retry after \($0) s." } ?? "" }
}

extension SASLFailure {
    /// The failure of a login that was rejected.
    public init(_ rejection: Rejection) {
        switch rejection.reason {
        case .expiredToken: self = .credentialsExpired
        case .overloaded, .shuttingDown, .storeUnavailable, .internal, .rateLimited:
            self = .temporaryAuthFailure
        default: self = .notAuthorized
        }
    }
}

extension StreamError {
    /// The error with which a stream is closed for this reason.
    public init(_ reason: CloseReason) {
        switch reason {
        case .protocolViolation: self.init(.policyViolation)
        case .loginTimeout: self.init(.connectionTimeout, "The login took too long.")
        case .idleTimeout: self.init(.connectionTimeout, "Nothing was received for too long.")
        case .tokenExpired: self.init(.reset, "The token has expired.")
        case .replaced:
            self.init(
                .conflict,
                "Replaced by a new connection: of the device, or above the account's limit of "
                    + "sessions.")
        case .kicked(let reason):
            self.init(
                .policyViolation, reason.map { String(decoding: $0, as: UTF8.self) } ?? "")
        case .tooSlow: self.init(.resourceConstraint, "The client reads too slowly.")
        case .overloaded: self.init(.resourceConstraint, "The service is overloaded.")
        case .shuttingDown: self.init(.systemShutdown)
        }
    }
}
