public import PresenceCore

/// What came in one frame, with every bound checked that the request alone can tell.
///
/// Names and texts are ranges of the decoder's text and lists are ranges of its names: they
/// are true until the decoder reads the next frame.
public struct Request: Hashable, Sendable {
    /// What the answer is to carry.
    public var id: RequestID
    /// What is asked.
    public var method: Method
}

/// What a request wants its answer to carry.
///
/// Stands for itself: an answer may come long after its request.
public enum RequestID: Hashable, Sendable {
    /// There is none: a JSON-RPC notification, which is carried out and never answered.
    case none
    /// It could not be made out; the answer says `null`.
    case unknown
    case integer(Int64)
    /// UTF-8, unescaped.
    case text([UInt8])
}

/// What a request asks.
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
    /// The cursor is nil where there is none, and where it is none of ours: the reader begins anew.
    case feed(FeedCursor?)
}

extension Method {
    /// What is asked, whatever the parameters.
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

/// A list of names, each once, in the order of first appearance: a range of the decoder's
/// names.
public struct NameList: Hashable, Sendable {
    /// The place of the first name in `RequestDecoder.names`.
    public var start: Int32
    /// How many.
    public var count: Int32
}

/// What somebody shows in order to be let in.
public enum Credential: Hashable, Sendable {
    /// A JWT whose `sub` is the account.
    case token(ByteRange)
    /// An account that nobody vouches for; only where the service is open.
    case account(ByteRange)
    /// An app server's key.
    case key(ByteRange)
    /// An app server that shows nothing; only where the service is open.
    case appServer
}

/// Parameters of `login`.
public struct LoginRequest: Hashable, Sendable {
    /// Who it is, or says to be.
    public var credential: Credential
    /// The device; there for `token` and `account`.
    public var device: ByteRange?
    /// What the session runs in.
    public var client: ClientKind
    /// How the device is reached when its connection is lost.
    public var reach: Reach
    /// Which states the session wants to begin with.
    public var sync: LoginList
}

/// Parameters of `refresh`.
public struct RefreshRequest: Hashable, Sendable {
    /// A JWT whose `sub` is the session's account.
    public var token: ByteRange
}

/// Parameters of `subscribe`.
public struct SubscribeRequest: Hashable, Sendable {
    /// Whom an app server acts for.
    public var account: ByteRange?
    /// What to watch.
    public var type: EventType
    /// For how long.
    public var expirySeconds: Int
    /// Whom.
    public var publishers: NameList
    /// Whether the answer carries their states.
    public var answer: SubscribeAnswer
}

/// Parameters of `unsubscribe`.
public struct UnsubscribeRequest: Hashable, Sendable {
    /// Whom an app server acts for.
    public var account: ByteRange?
    /// What not to watch any more.
    public var type: EventType
    /// Whom; nil: everybody.
    public var publishers: NameList?
}

/// Parameters of `subscriptions`.
public struct SubscriptionsRequest: Hashable, Sendable {
    /// Whom an app server acts for.
    public var account: ByteRange?
    /// Only this type; nil: all.
    public var type: EventType?
    /// Only these publishers; nil: all.
    public var publishers: NameList?
    /// What the page before gave.
    public var cursor: UInt64?
    /// How many entries at most.
    public var entriesMax: Int
}

/// Parameters of `publish`.
public struct PublishRequest: Hashable, Sendable {
    /// Whom an app server acts for.
    public var account: ByteRange?
    /// What kind of state it is.
    public var type: EventType
    /// The app's value.
    public var value: Int32
    /// After how many seconds the status is gone.
    public var expirySeconds: Int
    /// Free text.
    public var ext: ByteRange?
    /// Who is to see it.
    public var audience: Audience
    /// Whether the publisher's other sessions see it, too.
    public var ownSessions: OwnSessions
}

/// Parameters of `clear`.
public struct ClearRequest: Hashable, Sendable {
    /// Whom an app server acts for.
    public var account: ByteRange?
    /// What kind of state.
    public var type: EventType
}

/// Parameters of `query`.
public struct QueryRequest: Hashable, Sendable {
    /// What kind of state.
    public var type: EventType
    /// Of whom.
    public var accounts: NameList
}

/// Parameters of `subscribers`.
public struct SubscribersRequest: Hashable, Sendable {
    /// Of what.
    public var type: EventType
    /// Whose watchers.
    public var publisher: ByteRange
    /// What the page before gave.
    public var cursor: UInt64?
    /// How many entries at most.
    public var entriesMax: Int
}

/// Parameters of `sessions`.
public struct SessionsRequest: Hashable, Sendable {
    /// Whose.
    public var account: ByteRange
}

/// Parameters of `kick`.
public struct KickRequest: Hashable, Sendable {
    /// Whose sessions.
    public var account: ByteRange
    /// Only this device; nil: all.
    public var device: ByteRange?
    /// What to tell those who are kicked.
    public var reason: ByteRange?
}

/// Parameters of `why`.
public struct WhyRequest: Hashable, Sendable {
    /// Who watches, or is thought to.
    public var subscriber: ByteRange
    /// Who is watched, or thought to be.
    public var publisher: ByteRange
    /// Of what.
    public var type: EventType
}

/// Parameters of `top`.
public struct TopRequest: Hashable, Sendable {
    /// The most that may be asked for.
    static let entriesMaxMax = 100
    /// What a request gets that does not say.
    static let entriesMaxDefault = 10

    /// How many entries a list has at most.
    public var entriesMax: Int

    /// A request for lists of so many.
    public init(entriesMax: Int) {
        self.entriesMax = entriesMax
    }
}
