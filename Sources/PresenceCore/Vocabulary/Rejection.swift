/// Why a request was rejected. Nothing has changed.
public struct Rejection: Error, Hashable, Sendable {
    /// The reason code.
    public var reason: Reason
    /// The invalid parameter.
    public var field: Field?
    /// The lowest valid value.
    public var min: Int?
    // These two fill the gaps behind optional numbers: every effect has room for a rejection.
    private var characterValue = UInt32.max
    /// The highest valid value.
    public var max: Int?
    private var indexValue = UInt32.max
    /// The limit that was reached.
    public var limit: Int?
    /// How many there are, or were given.
    public var count: Int?
    /// Seconds after which to retry.
    public var retryAfterSeconds: Int?
    /// The publishers or recipients that are rejected, each for `reason`: a range of
    /// `Effects.names`.
    public var failed: Range<Int>?
    /// Why the credentials are invalid, if they are.
    public var credentialError: CredentialError?

    /// A rejection.
    public init(
        _ reason: Reason, field: Field? = nil, min: Int? = nil, max: Int? = nil,
        limit: Int? = nil, count: Int? = nil, retryAfterSeconds: Int? = nil,
        index: Int? = nil, character: Unicode.Scalar? = nil
    ) {
        self.reason = reason
        self.field = field
        self.min = min
        self.max = max
        self.limit = limit
        self.count = count
        self.retryAfterSeconds = retryAfterSeconds
        if let index { indexValue = UInt32(clamping: index) }
        if let character { characterValue = character.value }
    }

    /// The place of the invalid element in the parameter, which is a list.
    public var index: Int? { indexValue == .max ? nil : Int(indexValue) }

    /// The first character that the invalid text must not have.
    public var character: Unicode.Scalar? { Unicode.Scalar(characterValue) }

    /// The reason codes, as in `data.reason` on the wire.
    public enum Reason: String, CaseIterable, Sendable {
        case notLoggedIn = "not_logged_in"
        case invalidToken = "invalid_token"
        case expiredToken = "expired_token"
        case invalidPassword = "invalid_password"
        case alreadyLoggedIn = "already_logged_in"
        case forbidden
        case readOnlyKey = "read_only_key"
        case missingField = "missing_field"
        case wrongType = "wrong_type"
        case outOfRange = "out_of_range"
        case invalidName = "invalid_name"
        case tooMany = "too_many"
        case reservedValue = "reserved_value"
        case tooLong = "too_long"
        case duplicateField = "duplicate_field"
        case rateLimited = "rate_limited"
        case subscriptionQuota = "subscription_quota"
        case subscriberQuota = "subscriber_quota"
        case sessionQuota = "session_quota"
        case statusQuota = "status_quota"
        case feedQuota = "feed_quota"
        case contactQuota = "contact_quota"
        case requestQuota = "request_quota"
        case directedQuota = "directed_quota"
        case inboxFull = "inbox_full"
        case senderQuota = "sender_quota"
        case notPermitted = "not_permitted"
        case unknownContact = "unknown_contact"
        case nothingSet = "nothing_set"
        case invalidAlias = "invalid_alias"
        case aliasTooLong = "alias_too_long"
        case invalidTag = "invalid_tag"
        case tagTooLong = "tag_too_long"
        case tooManyTags = "too_many_tags"
        case labelsTooLong = "labels_too_long"
        case noRecipients = "no_recipients"
        case `internal`
        case storeUnavailable = "store_unavailable"
        case overloaded
        case shuttingDown = "shutting_down"

        /// The protocol's number; those that NetEase NIM has, too, have the same meaning there.
        /// Those from 1,000 on are of JPush.
        public var code: Int {
            switch self {
            case .notLoggedIn, .invalidToken, .expiredToken, .invalidPassword, .alreadyLoggedIn: 401
            case .forbidden, .readOnlyKey, .notPermitted: 403
            case .unknownContact: 404
            case .missingField, .wrongType, .outOfRange, .invalidName, .tooMany,
                .reservedValue, .tooLong, .duplicateField:
                414
            case .rateLimited: 416
            case .subscriptionQuota, .subscriberQuota, .sessionQuota, .statusQuota, .feedQuota,
                .contactQuota, .requestQuota, .directedQuota, .inboxFull, .senderQuota:
                419
            case .internal: 500
            case .noRecipients: 1_011
            case .nothingSet: 6_001
            case .invalidAlias: 6_003
            case .aliasTooLong: 6_004
            case .invalidTag: 6_005
            case .tagTooLong: 6_006
            case .tooManyTags: 6_007
            case .labelsTooLong: 6_008
            case .storeUnavailable, .overloaded, .shuttingDown: 503
            }
        }
    }

    /// The parameters of all commands.
    public enum Field: String, CaseIterable, Sendable {
        case params, token, key, account, accounts, client, device, pushReachable, sync
        case type, expiry, subscriber, publisher, publishers, cursor, from, limit, value, ext,
            onlineOnly, reason
        case contacts, contact, action, text, name, groups, visibility, show, priority
        case password, body, ref, receipt, id, messages
        case alias, aliases, tags, tagsAll, tagsNot, pushAddress, ifPushAddress
    }
}

/// Why the service closes a connection.
public enum CloseReason: Hashable, Sendable {
    case protocolViolation
    case loginTimeout
    case tokenExpired
    case idleTimeout
    case replaced
    case kicked(reason: [UInt8]?)
    case tooSlow
    case shuttingDown
    case overloaded
}
