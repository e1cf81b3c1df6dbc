public import PresenceCore

/// The request in one frame. Every limit that depends on the request alone has been checked.
///
/// Names and texts are ranges of the decoder's text, and lists are ranges of its names: they are
/// valid until the decoder reads the next frame.
public struct Request: Hashable, Sendable {
    /// The `id` that the response repeats.
    public var id: RequestID
    /// The method and its parameters.
    public var method: Method
}

/// The `id` of a request.
///
/// It is self-contained: a response may be sent long after the request was read.
public enum RequestID: Hashable, Sendable {
    /// None: a JSON-RPC notification, which is carried out and never answered.
    case none
    /// It could not be decoded; the response has `null`.
    case unknown
    case integer(Int64)
    /// UTF-8, unescaped.
    case text([UInt8])
}

/// The method of a request and its parameters.
public enum Method: Hashable, Sendable {
    case login(LoginRequest)
    case refresh(RefreshRequest)
    case logout
    case ping
    case subscribe(SubscribeRequest)
    case unsubscribe(UnsubscribeRequest)
    case subscriptions(SubscriptionsRequest)
    case publish(PublishRequest)
    case clear(ClearRequest)
    case query(QueryRequest)
    case subscribers(SubscribersRequest)
    case sessions(SessionsRequest)
    case kick(KickRequest)
    case stats
    case metrics
    case why(WhyRequest)
    case top(TopRequest)
    /// The cursor is nil if it is missing or unknown: the reader is reset.
    case feed(FeedCursor?)
}

extension Method {
    /// The method, without the parameters.
    public var kind: CommandKind {
        switch self {
        case .login: .login
        case .refresh: .refresh
        case .logout: .logout
        case .ping: .ping
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        case .subscriptions: .subscriptions
        case .publish: .publish
        case .clear: .clear
        case .query: .query
        case .subscribers: .subscribers
        case .sessions: .sessions
        case .kick: .kick
        case .stats: .stats
        case .metrics: .metrics
        case .why: .why
        case .top: .top
        case .feed: .feed
        }
    }
}

extension Method {
    /// Whether it is about an account: the peer's own, or the one that it names.
    public var subject: Subject {
        switch self {
        case .subscribe(let request): .account(request.account)
        case .unsubscribe(let request): .account(request.account)
        case .subscriptions(let request): .account(request.account)
        case .publish(let request): .account(request.account)
        case .clear(let request): .account(request.account)
        case .login, .refresh, .logout, .ping, .query, .subscribers, .sessions, .kick, .stats,
            .metrics, .why, .top, .feed:
            .none
        }
    }

    /// What a request is about.
    public enum Subject: Hashable, Sendable {
        case none
        /// The account of this name; nil: the peer's own.
        case account(ByteRange?)
    }
}

/// A list of names, each once, in the order of first appearance: a range of the decoder's
/// names.
public struct NameList: Hashable, Sendable {
    /// The index of the first name in `RequestDecoder.names`.
    public var start: Int32
    /// The number of names.
    public var count: Int32
}

/// The credentials of a login.
public enum Credential: Hashable, Sendable {
    /// A JWT whose `sub` is the account.
    case token(ByteRange)
    /// A self-asserted account; only with `--auth open`.
    case account(ByteRange)
    /// A server key.
    case key(ByteRange)
    /// An app server without credentials; only with `--auth open`.
    case appServer
}

/// Parameters of `login`.
public struct LoginRequest: Hashable, Sendable {
    /// The credentials.
    public var credential: Credential
    /// The device; present with `token` and `account`.
    public var device: ByteRange?
    /// The kind of client.
    public var client: ClientKind
    /// Whether the device receives push messages while it is not connected.
    public var reach: Reach
    /// The states in the login list.
    public var sync: LoginList
}

/// Parameters of `refresh`.
public struct RefreshRequest: Hashable, Sendable {
    /// A JWT whose `sub` is the session's account.
    public var token: ByteRange
}

/// Parameters of `subscribe`.
public struct SubscribeRequest: Hashable, Sendable {
    /// The account that an app server acts for.
    public var account: ByteRange?
    /// The type to subscribe to.
    public var type: EventType
    /// The expiry in seconds.
    public var expirySeconds: Int
    /// The publishers.
    public var publishers: NameList
    /// Whether the response has their states.
    public var answer: SubscribeAnswer
}

/// Parameters of `unsubscribe`.
public struct UnsubscribeRequest: Hashable, Sendable {
    /// The account that an app server acts for.
    public var account: ByteRange?
    /// The type to unsubscribe from.
    public var type: EventType
    /// The publishers; nil: all.
    public var publishers: NameList?
}

/// Parameters of `subscriptions`.
public struct SubscriptionsRequest: Hashable, Sendable {
    /// The account that an app server acts for.
    public var account: ByteRange?
    /// Only this type; nil: all.
    public var type: EventType?
    /// Only these publishers; nil: all.
    public var publishers: NameList?
    /// The cursor from the previous page.
    public var cursor: UInt64?
    /// The maximum number of entries.
    public var entriesMax: Int
}

/// Parameters of `publish`.
public struct PublishRequest: Hashable, Sendable {
    /// The account that an app server acts for.
    public var account: ByteRange?
    /// The type of the state.
    public var type: EventType
    /// The app's value.
    public var value: Int32
    /// The number of seconds after which the status expires.
    public var expirySeconds: Int
    /// Free text.
    public var ext: ByteRange?
    /// Whether the status is durable and part of login lists.
    public var audience: Audience
    /// Whether the publisher's other sessions receive the event, too.
    public var ownSessions: OwnSessions
}

/// Parameters of `clear`.
public struct ClearRequest: Hashable, Sendable {
    /// The account that an app server acts for.
    public var account: ByteRange?
    /// The type of the state.
    public var type: EventType
}

/// Parameters of `query`.
public struct QueryRequest: Hashable, Sendable {
    /// The type of the state.
    public var type: EventType
    /// The accounts.
    public var accounts: NameList
}

/// Parameters of `subscribers`.
public struct SubscribersRequest: Hashable, Sendable {
    /// The type.
    public var type: EventType
    /// The publisher.
    public var publisher: ByteRange
    /// The cursor from the previous page.
    public var cursor: UInt64?
    /// The maximum number of entries.
    public var entriesMax: Int
}

/// Parameters of `sessions`.
public struct SessionsRequest: Hashable, Sendable {
    /// The account.
    public var account: ByteRange
}

/// Parameters of `kick`.
public struct KickRequest: Hashable, Sendable {
    /// The account.
    public var account: ByteRange
    /// Only this device; nil: all.
    public var device: ByteRange?
    /// The message of the `close` notification.
    public var reason: ByteRange?
}

/// Parameters of `why`.
public struct WhyRequest: Hashable, Sendable {
    /// The subscriber, actual or presumed.
    public var subscriber: ByteRange
    /// The publisher, actual or presumed.
    public var publisher: ByteRange
    /// The type.
    public var type: EventType
}

/// Parameters of `top`.
public struct TopRequest: Hashable, Sendable {
    /// The highest `limit`.
    static let entriesMaxMax = 100
    /// The default `limit`.
    static let entriesMaxDefault = 10

    /// The maximum number of entries in a list.
    public var entriesMax: Int

    /// A request for lists of at most `entriesMax` entries.
    public init(entriesMax: Int) {
        self.entriesMax = entriesMax
    }
}
