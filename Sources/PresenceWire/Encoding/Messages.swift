internal import PresenceCore

// The `message` of an error: one sentence that names the field, the limit and what would be
// valid. Programs read `data`; the sentences may change. No sentence contains a character that
// JSON escapes.

extension [UInt8] {
    /// Appends the sentence for an invalid request object.
    mutating func appendMessage(of error: EnvelopeError) {
        switch (error.reason, error.field) {
        case (.invalidJSON, _):
            append("The frame is not a single JSON value")
            guard let position = error.position else { return append(".") }
            append("; the error is at byte ", position)
            append(", counted from 0.")
        case (.invalidUTF8, _): append("The frame is not UTF-8.")
        case (.tooDeep, _): append("The frame nests deeper than 32 levels.")
        case (.batchNotSupported, _):
            append("Batches are not supported; send one request per frame.")
        case (.unknownMethod, _): append("Unknown method.")
        case (.duplicateField, let field):
            append(field: field?.rawValue ?? "A member")
            append(" appears more than once in the request.")
        case (.invalidRequest, .jsonrpc): append("`jsonrpc` must be the string 2.0.")
        case (.invalidRequest, .method): append("`method` must be a string.")
        case (.invalidRequest, .id):
            append("`id` must be a 64-bit integer or a string of at most ")
            append(error.limit ?? Limits().requestIDBytesMax)
            append(" bytes.")
        case (.invalidRequest, _):
            guard let limit = error.limit else {
                return append("The frame is not a JSON-RPC 2.0 request object.")
            }
            append("The request may have at most ", limit)
            append(" members.")
        }
    }

    /// Appends the sentence for a rejected request.
    mutating func appendMessage(of rejection: Rejection) {
        if let error = rejection.credentialError { return append(error.sentence) }
        switch rejection.reason {
        case .missingField, .wrongType, .outOfRange, .invalidName, .tooMany, .reservedValue,
            .tooLong, .duplicateField:
            appendParameterMessage(of: rejection)
        case .notLoggedIn: append("Log in first.")
        case .invalidToken where rejection.field == .key:
            append("`key` is not a server key of this service; a JWT is given as `token`.")
        case .invalidToken: append("Invalid credentials.")
        case .invalidPassword: append(CredentialError.password.sentence)
        case .expiredToken: append(CredentialError.expired.sentence)
        case .alreadyLoggedIn: append("This connection is already logged in.")
        case .forbidden: appendPermissionMessage(rejection.field)
        case .readOnlyKey:
            append(
                "The key of this session may only read, not messages and devices; use another.")
        case .internal: append("Internal error; nothing was changed.")
        case .subscriptionQuota:
            appendQuota("The account", "subscriptions", rejection)
        case .subscriberQuota:
            appendQuota("The publisher", "subscribers", rejection)
        case .sessionQuota:
            appendQuota("The account", "sessions", rejection)
        case .statusQuota:
            appendQuota("The account", "statuses", rejection)
        case .contactQuota where rejection.field == .name:
            appendQuota("The account", "bytes in names and groups of contacts", rejection)
        case .contactQuota:
            appendQuota("The account", "contacts", rejection)
        case .requestQuota:
            appendQuota("The contact", "unanswered requests", rejection)
        case .directedQuota:
            appendQuota("The session", "addresses of directed presence", rejection)
        case .notPermitted: append(rejection.sentenceOfPermission)
        case .unknownContact: append("`contact` is not a contact of the account.")
        case .feedQuota:
            appendQuota("The service", "feed readers", rejection)
        case .inboxFull:
            append("There is no room for the message at the accounts in `failed`; ")
            append(rejection.limit ?? 0)
            append(rejection.field == .body ? " bytes of messages" : " messages")
            append(" may wait for each: three quarters of accounts, and half of accounts ")
            append("unrelated to it, which share it.")
        case .senderQuota where rejection.field == .body && rejection.limit == nil:
            append("The messages of the account that are not taken have their share of the room ")
            append("of all messages.")
        case .senderQuota where rejection.field == .body:
            appendQuota("The account", "bytes in messages that are not taken", rejection)
        case .senderQuota:
            appendQuota("The account", "messages that are not taken", rejection)
        case .nothingSet, .invalidAlias, .aliasTooLong, .invalidTag, .tagTooLong, .tooManyTags,
            .labelsTooLong, .noRecipients:
            appendLabelMessage(of: rejection)
        case .rateLimited: appendRetry("Rate limit exceeded", rejection)
        case .storeUnavailable:
            appendRetry("The service cannot store changes at the moment", rejection)
        case .overloaded: appendRetry("The service is overloaded", rejection)
        case .shuttingDown: appendRetry("The service is shutting down", rejection)
        }
    }

    /// What the session may not do, or not with this parameter.
    private mutating func appendPermissionMessage(_ field: Rejection.Field?) {
        switch field {
        case nil:
            append("This session may not call the method: it is for app servers only (log in ")
            append("with a `key`), or for accounts only, or the operator has disabled it.")
        case .token: append("The `token` is for another account than the session.")
        case .account, .device:
            append(field: field?.rawValue ?? "")
            append(" must be that of the session; only an app server may name another.")
        case let field?:
            append(field: field.rawValue)
            append(" is for app servers only; log in with a `key`.")
        }
    }

    private mutating func appendParameterMessage(of rejection: Rejection) {
        let field = rejection.field ?? .params
        if field == .params, rejection.reason == .duplicateField {
            return append("A member of `params`, or of an object in it, appears more than once.")
        }
        if rejection.field == nil, rejection.reason == .tooMany {
            append("The response can hold ", rejection.limit ?? 0)
            return append(" accounts; split the request.")
        }
        if let index = rejection.index { append("The element at index ", index) }
        if rejection.index != nil { append(" of ") }
        append(field: field.rawValue)
        switch rejection.reason {
        case .missingField:
            append(field == .token ? " or another credential is required." : " is required.")
        case .wrongType:
            append(" must be ")
            append(rejection.index == nil ? field.kind : "a string")
            append(".")
        case .outOfRange: appendRange(rejection, field)
        case .invalidName where field == .password:
            append(" must be 1 to ", rejection.limit ?? 0)
            append(" bytes, without control characters, or characters that cannot be seen; ")
            append("letters from right to left are not mixed with others (RFC 4013).")
        case .invalidName:
            let limit = rejection.limit ?? Limits().accountBytesMax
            append(" must be")
            append(" 1 to ", limit)
            append(" bytes, without control characters and without leading or trailing spaces.")
        case .tooMany where field.selectsDevices && rejection.count != nil:
            append(" select or concern at least ", rejection.count ?? 0)
            append(" devices; at most ", rejection.limit ?? 0)
            append(" are possible: name labels that fewer have.")
        case .duplicateField where field.selectsDevices:
            append(" cannot be given together with other recipients, or twice.")
        case .duplicateField where field == .from:
            append(" cannot be given together with `cursor`, or twice.")
        case .tooMany:
            append(" has more than ")
            append(rejection.limit ?? 0)
            append(field == .params ? " members." : " names; split the request.")
        case .reservedValue:
            append(" must be at least ", rejection.min ?? Limits().customValueMin)
            append("; lower values are reserved.")
        case .tooLong:
            append(field == .body ? " and `ext` have " : " has ", rejection.count ?? 0)
            append(" bytes; at most ", rejection.limit ?? 0)
            append(" are allowed.")
        default:
            append(" appears more than once")
            append(field.isCredential ? ", or together with another credential." : ".")
        }
    }

    /// What is wrong with the labels of a device, or with those in a request to send.
    private mutating func appendLabelMessage(of rejection: Rejection) {
        switch rejection.reason {
        case .noRecipients: return append("No device is selected by these aliases or tags.")
        case .nothingSet:
            return append("At least one of `alias`, `tags` and `pushAddress` is required.")
        case .invalidTag, .tagTooLong:
            append("The tag at index ", rejection.index ?? 0)
            append(" of `tags`")
        case .tooManyTags: append("`tags`")
        case .labelsTooLong: append("The alias and the tags together")
        default: append("`alias`")
        }
        switch rejection.reason {
        case .invalidTag where rejection.character == nil: append(" is empty.")
        case .invalidAlias, .invalidTag:
            append(" may have only letters a to z and A to Z, digits, `_` and Chinese characters")
            append(" (Unified_Ideograph).")
        case .tooManyTags:
            append(" has ", rejection.count ?? 0)
            append(" tags; at most ", rejection.limit ?? Limits.tagsPerDeviceMax)
            append(" are allowed.")
        default:
            append(rejection.reason == .labelsTooLong ? " have " : " has ", rejection.count ?? 0)
            append(" bytes; at most ", rejection.limit ?? 0)
            append(" are allowed.")
        }
    }

    private mutating func appendRange(_ rejection: Rejection, _ field: Rejection.Field) {
        switch field {
        case .cursor: append(" must be a cursor from a response of this service.")
        case .id: append(" must be the `id` of a message that was sent to this session.")
        case .device: append(" is possible only with exactly one account in `accounts`.")
        case .sync: append(" must be online, all or none.")
        case .from: append(" must be now.")
        case .action:
            append(" must be request, cancel, accept, deny, describe or remove.")
        case .visibility: append(" must be open, approved, hidden or default.")
        case .show: append(" must be available, chat, away, xa or dnd.")
        case .client:
            append(" must be one of ")
            for kind in ClientKind.ofNativeClients {
                if kind != ClientKind.ofNativeClients.first { append(", ") }
                append(kind.word)
            }
            append(".")
        default:
            append(field.isList ? " must have " : " must be ")
            if field == .type { append("1 or ") }
            append(rejection.min ?? 0)
            append(" to ", rejection.max ?? 0)
            switch field {
            case .publishers, .accounts, .groups: append(" names.")
            case .aliases: append(" aliases.")
            case .tags, .tagsAll, .tagsNot: append(" tags.")
            case .expiry: append(" seconds.")
            case .body, .ref: append(" bytes.")
            default: append(".")
            }
        }
    }

    private mutating func appendQuota(
        _ owner: StaticString, _ things: StaticString, _ rejection: Rejection
    ) {
        append(owner)
        guard let limit = rejection.limit else {
            append(" has reached its limit of ")
            append(things)
            return append(".")
        }
        append(" may have ", limit)
        append(" ")
        append(things)
        if let count = rejection.count { append(" and has ", count) }
        append(".")
    }

    private mutating func appendRetry(_ what: StaticString, _ rejection: Rejection) {
        append(what)
        guard let seconds = rejection.retryAfterSeconds else { return append("; try again later.") }
        append("; try again in ", seconds)
        append(seconds == 1 ? " second." : " seconds.")
    }

    private mutating func append(field: String) {
        append("`")
        append(contentsOf: field.utf8)
        append("`")
    }
}

extension Rejection {
    /// The `message` for `not_permitted`.
    fileprivate var sentenceOfPermission: StaticString {
        switch field {
        case .contact: "`contact` is the account itself."
        case .accounts: "The accounts in `failed` accept messages only from their contacts."
        default: "Only approved contacts see the publishers in `failed`; use `relate`."
        }
    }
}

extension Rejection.Field {
    /// The kind of value that the parameter takes.
    fileprivate var kind: StaticString {
        switch self {
        case .params: "an object"
        case .publishers, .accounts, .groups, .aliases, .tags, .tagsAll, .tagsNot:
            "an array of strings"
        case .pushReachable, .onlineOnly, .contacts: "a boolean"
        case .messages: "a boolean, or an object with the boolean `sent`"
        case .type, .expiry, .limit, .value, .priority:
            "an integer literal (no `1.0`, no `1e3`)"
        case .sync: "a boolean; in `login`, a string"
        case .token, .key, .account, .client, .device, .subscriber, .publisher, .cursor, .from,
            .ext, .reason, .contact, .action, .text, .name, .visibility, .show, .password, .body,
            .ref, .receipt,
            .id, .alias, .pushAddress, .ifPushAddress:
            "a string"
        }
    }

    fileprivate var isList: Bool {
        switch self {
        case .publishers, .accounts, .groups, .aliases, .tags, .tagsAll, .tagsNot: true
        default: false
        }
    }

    /// Whether it selects devices by their labels.
    fileprivate var selectsDevices: Bool { [.aliases, .tags, .tagsAll].contains(self) }

    fileprivate var isCredential: Bool { self == .account || self == .key || self == .password }
}

extension CredentialError {
    /// The `message` of the error.
    fileprivate var sentence: StaticString {
        switch self {
        case .tokensNotTaken: "This service does not accept tokens: it runs without `--jwt-key`."
        case .tokenNeeded: "This service requires a `token` to log in as an account."
        case .keyNeeded: "This service requires a `key` to log in as an app server."
        case .nothingToRefresh:
            "This session did not log in with a token; there is nothing to refresh."
        case .malformed: "The token is not a signed JWT: three base64url parts."
        case .algorithm: "The token's `alg` must be HS256, RS256, ES256 or EdDSA."
        case .critical: "The token's header has `crit` or `b64`; extensions are not supported."
        case .unknownKey: "The token's `kid` does not match a key of this service."
        case .otherAlgorithm: "The token's `alg` does not match the algorithm of the key."
        case .signature: "The token's signature is invalid."
        case .noExpiry: "The token's `exp` is missing or is not a number of seconds."
        case .expired: "The token has expired; log in with a new one."
        case .notYetValid: "The token's `nbf` is in the future."
        case .audience:
            """
            The token's `aud` does not include this service: it must have what the setting \
            jwt-audience says, and there must be none without that setting.
            """
        case .issuer: "The token's `iss` is not the issuer that this service accepts."
        case .subject: "The token's `sub` is not a valid account name."
        case .passwordsNotTaken:
            "This service does not accept passwords, unless it runs with `--auth password`."
        case .passwordNeeded: "This service requires a `password` to log in as an account."
        case .password: "The account has another password, or none."
        case .keysUnavailable: "The keys that verify tokens cannot be fetched; try again later."
        }
    }
}
