internal import PresenceCore

// What a person reads in an error: one sentence that names the field, the bound and what would
// be right. Programs read `data`; the sentences may change. They hold nothing that needs
// escapes.

extension [UInt8] {
    /// Appends the sentence for a fault of the envelope.
    mutating func appendMessage(of fault: EnvelopeFault) {
        switch (fault.reason, fault.field) {
        case (.invalidJSON, _): append("The frame is not one JSON value.")
        case (.invalidUTF8, _): append("The frame is not UTF-8.")
        case (.tooDeep, _): append("The frame nests deeper than 32 levels.")
        case (.batchNotSupported, _): append("Batches are not supported; send one object a frame.")
        case (.unknownMethod, _): append("There is no such method.")
        case (.duplicateField, let field):
            append(field: field?.rawValue ?? "A member")
            append(" stands twice in the request.")
        case (.invalidRequest, .jsonrpc): append("`jsonrpc` must be the string 2.0.")
        case (.invalidRequest, .method): append("`method` must be a string.")
        case (.invalidRequest, .id):
            append("`id` must be an integer of 64 bits or a string of at most ")
            append(fault.limit ?? Limits().requestIDBytesMax)
            append(" bytes.")
        case (.invalidRequest, _):
            guard let limit = fault.limit else {
                return append("The frame is not a JSON-RPC 2.0 request object.")
            }
            append("The request may have at most ", limit)
            append(" members.")
        }
    }

    /// Appends the sentence for a refusal.
    mutating func appendMessage(of refusal: Refusal) {
        if let fault = refusal.fault { return append(fault.sentence) }
        switch refusal.reason {
        case .missingField, .wrongType, .outOfRange, .invalidName, .tooMany, .reservedValue,
            .tooLong, .duplicateField:
            appendParameterMessage(of: refusal)
        case .notLoggedIn: append("Log in first.")
        case .invalidToken: append("The credentials do not hold.")
        case .expiredToken: append(CredentialFault.expired.sentence)
        case .alreadyLoggedIn: append("This connection is logged in already.")
        case .forbidden: append("This session may not do that.")
        case .internal: append("The service has a fault; nothing was changed.")
        case .subscriptionQuota:
            appendQuota("The account", "subscriptions", refusal)
        case .subscriberQuota:
            appendQuota("The publisher", "subscribers", refusal)
        case .sessionQuota:
            appendQuota("The account", "sessions at a time", refusal)
        case .statusQuota:
            appendQuota("The account", "statuses at a time", refusal)
        case .feedQuota:
            appendQuota("The service", "readers of the feed at a time", refusal)
        case .rateLimited: appendRetry("These requests come too often", refusal)
        case .storeUnavailable: appendRetry("The service cannot store changes now", refusal)
        case .overloaded: appendRetry("The service has too much to do", refusal)
        case .shuttingDown: appendRetry("The service stops", refusal)
        }
    }

    private mutating func appendParameterMessage(of refusal: Refusal) {
        let field = refusal.field ?? .params
        if field == .params, refusal.reason == .duplicateField {
            return append("A member of `params`, or of an object in it, stands twice.")
        }
        append(field: field.rawValue)
        switch refusal.reason {
        case .missingField:
            append(" is missing")
            append(field == .token ? ", and so is any other credential." : ".")
        case .wrongType:
            append(" must be ")
            append(field.kind)
            append(".")
        case .outOfRange: appendRange(refusal, field)
        case .invalidName:
            let limit = refusal.limit ?? Limits().accountBytesMax
            append(field == .publishers || field == .accounts ? " must hold names of" : " must be")
            append(" 1 to ", limit)
            append(" bytes without control characters and without a space at either end.")
        case .tooMany:
            append(field == .params ? " has more than " : " names more than ")
            append(refusal.limit ?? 0)
            append(field == .params ? " members." : " accounts; split the request.")
        case .reservedValue:
            append(" must be at least ", refusal.min ?? Limits().customValueMin)
            append("; those below are the service's own.")
        case .tooLong:
            append(" has ", refusal.count ?? 0)
            append(" bytes, of at most ", refusal.limit ?? 0)
            append(".")
        default:
            append(field.isCredential ? " stands beside another credential" : " stands")
            append(field.isCredential ? ", or twice." : " twice.")
        }
    }

    private mutating func appendRange(_ refusal: Refusal, _ field: Refusal.Field) {
        switch field {
        case .cursor: append(" must be one that an answer gave.")
        case .sync: append(" must be one of online, all and none.")
        case .client:
            append(" must be one of ")
            for kind in ClientKind.allCases {
                if kind != ClientKind.allCases.first { append(", ") }
                append(kind.word)
            }
            append(".")
        default:
            append(field == .publishers || field == .accounts ? " must name " : " must be ")
            if field == .type { append("1 or ") }
            append(refusal.min ?? 0)
            append(" to ", refusal.max ?? 0)
            switch field {
            case .publishers, .accounts: append(" accounts.")
            case .expiry: append(" seconds.")
            default: append(".")
            }
        }
    }

    private mutating func appendQuota(
        _ owner: StaticString, _ things: StaticString, _ refusal: Refusal
    ) {
        append(owner)
        guard let limit = refusal.limit else {
            append(" has as many ")
            append(things)
            return append(" as it may have.")
        }
        append(" may have ", limit)
        append(" ")
        append(things)
        if let count = refusal.count { append(" and has ", count) }
        append(".")
    }

    private mutating func appendRetry(_ what: StaticString, _ refusal: Refusal) {
        append(what)
        guard let seconds = refusal.retryAfterSeconds else { return append("; try again later.") }
        append("; try again in ", seconds)
        append(seconds == 1 ? " second." : " seconds.")
    }

    private mutating func append(field: String) {
        append("`")
        append(contentsOf: field.utf8)
        append("`")
    }
}

extension Refusal.Field {
    /// What the parameter has to be.
    fileprivate var kind: StaticString {
        switch self {
        case .params: "an object"
        case .publishers, .accounts: "a list of strings"
        case .pushReachable, .onlineOnly: "true or false"
        case .type, .expiry, .limit, .value: "an integer without fraction and exponent"
        case .sync: "true or false, at login a word"
        case .token, .key, .account, .client, .device, .subscriber, .publisher, .cursor, .ext,
            .reason:
            "a string"
        }
    }

    fileprivate var isCredential: Bool { self == .account || self == .key }
}

extension CredentialFault {
    /// What a person is told.
    fileprivate var sentence: StaticString {
        switch self {
        case .tokensNotTaken: "This service takes no tokens: it runs without `--jwt-key`."
        case .tokenNeeded: "This service lets accounts in by a `token`, not by their word."
        case .keyNeeded: "This service lets app servers in by a `key`, not by their word."
        case .nothingToRefresh: "This session was begun without a token, and does not end by one."
        case .malformed: "The token is no signed JWT: three parts in base64url, of JSON."
        case .algorithm: "The token's `alg` is none of HS256, RS256, ES256 and EdDSA."
        case .critical: "The token's header has `crit`; no extension is understood here."
        case .unknownKey: "The token's `kid` names no key of this service."
        case .otherAlgorithm: "The token's `alg` is not that of the key."
        case .signature: "The token's signature does not hold."
        case .noExpiry: "The token has no `exp` that is a number of seconds."
        case .expired: "The token has expired; log in with a new one."
        case .notYetValid: "The token's `nbf` has not come yet."
        case .audience: "The token's `aud` does not name this service."
        case .issuer: "The token's `iss` is not the issuer whom this service believes."
        case .subject: "The token's `sub` is no account: 1 to 128 bytes, as names are."
        case .keysUnavailable: "The keys for tokens cannot be fetched now; try again later."
        }
    }
}
