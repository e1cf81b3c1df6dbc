/// What a connection asks of the engine, with its names interned and its bounds checked.
///
/// Bounds that can be judged from the request alone have been judged by whoever made the
/// command; the engine judges what depends on its state.
public enum Command: Hashable, Sendable {
    /// Begin a session of an account.
    case login(Login)
    /// Begin a session of an app server, which has no account and makes no presence.
    case loginAppServer
    /// Go on with the session for as long as another token allows. `account` is whose that is;
    /// nil: a name that nobody has used.
    case refresh(account: AccountHandle?, TokenTerm)
    /// End the session, as its user wants.
    case logout
    /// Ask for the time, to show that one is alive.
    case ping
    /// Watch publishers for a while.
    case subscribe(Subscribe)
    /// Stop watching publishers, or all of a type.
    case unsubscribe(Unsubscribe)
    /// List what an account watches.
    case subscriptions(ListSubscriptions)
    /// Set the status of a publisher.
    case publish(Publish)
    /// Take back the status of a publisher. `account` is for app servers.
    case clear(account: AccountHandle?, type: EventType)
    /// Read states.
    case query(type: EventType, accounts: [QueriedAccount])
    /// List who watches a publisher.
    case subscribers(ListSubscribers)
    /// List an account's sessions.
    case sessions(account: AccountHandle?)
    /// End sessions of an account.
    case kick(Kick)
    /// Count things.
    case stats
}

/// What is asked, whatever the parameters: the methods of the protocol.
public enum CommandKind: String, CaseIterable, Sendable {
    case login, refresh, logout, ping, subscribe, unsubscribe, subscriptions, publish, clear
    case query, subscribers, sessions, kick, stats
    /// Answered by whoever owns the engine, which reads what there is to tell.
    case metrics, why, top
    /// Answered by whoever keeps the feed; the engine only judges who may ask.
    case feed
}

extension Command {
    /// What is asked.
    public var kind: CommandKind {
        switch self {
        case .login, .loginAppServer: .login
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
        }
    }
}

/// Parameters of `login`.
public struct Login: Hashable, Sendable {
    /// Who logs in, already authenticated.
    public var account: AccountHandle
    /// The device's name; unique within its account.
    public var device: [UInt8]
    /// What the session runs in.
    public var client: ClientKind
    /// Whether push reaches the device when its connection is lost.
    public var reach: Reach
    /// Which states the session wants to begin with.
    public var sync: LoginList
    /// Where the connection comes from, for the eyes of app servers.
    public var address: [UInt8]
    /// How long the session may go on; nil: for ever.
    public var term: TokenTerm?

    /// A login.
    public init(
        account: AccountHandle, device: [UInt8], client: ClientKind, reach: Reach = .connection,
        sync: LoginList = .online, address: [UInt8] = [], term: TokenTerm? = nil
    ) {
        self.account = account
        self.device = device
        self.client = client
        self.reach = reach
        self.sync = sync
        self.address = address
        self.term = term
    }
}

/// How a device can be reached.
public enum Reach: UInt8, Sendable {
    /// Only while it is connected.
    case connection
    /// By push, too, when its connection is lost.
    case push
}

/// Which states a session is sent when it logs in.
public enum LoginList: UInt8, CaseIterable, Sendable {
    /// None.
    case none
    /// Those of publishers who are online now or left a status for the absent.
    case online
    /// All, offline and unknown ones included.
    case all
}

/// Whether the states of the publishers come with the answer.
public enum SubscribeAnswer: UInt8, Sendable {
    case withoutStates
    case withStates
}

/// Parameters of `subscribe`.
public struct Subscribe: Hashable, Sendable {
    /// Whom an app server acts for; nil for a client's own account.
    public var account: AccountHandle?
    /// What to watch.
    public var type: EventType
    /// For how long.
    public var expirySeconds: Int
    /// Whom to watch, without repeats, in the order asked for.
    public var publishers: [AccountHandle]
    /// Whether the answer carries their states.
    public var answer: SubscribeAnswer

    /// A request to subscribe.
    public init(
        account: AccountHandle? = nil, type: EventType, expirySeconds: Int,
        publishers: [AccountHandle], answer: SubscribeAnswer = .withoutStates
    ) {
        self.account = account
        self.type = type
        self.expirySeconds = expirySeconds
        self.publishers = publishers
        self.answer = answer
    }
}

/// Parameters of `unsubscribe`.
public struct Unsubscribe: Hashable, Sendable {
    /// Whom an app server acts for; nil for a client's own account.
    public var account: AccountHandle?
    /// What not to watch any more.
    public var type: EventType
    /// Whom not to watch any more, without repeats; nil: everybody.
    public var publishers: [AccountHandle]?

    /// A request to unsubscribe.
    public init(
        account: AccountHandle? = nil, type: EventType, publishers: [AccountHandle]? = nil
    ) {
        self.account = account
        self.type = type
        self.publishers = publishers
    }
}

/// Parameters of `subscriptions`.
public struct ListSubscriptions: Hashable, Sendable {
    /// Whom an app server acts for; nil for a client's own account.
    public var account: AccountHandle?
    /// Only this type; nil: all.
    public var type: EventType?
    /// Only these publishers; nil: all. Names nobody knows are left out by the caller.
    public var publishers: [AccountHandle]?
    /// Where the page begins: what the page before gave.
    public var cursor: UInt64?
    /// How many entries at most.
    public var entriesMax: Int

    /// A request for a page.
    public init(
        account: AccountHandle? = nil, type: EventType? = nil, publishers: [AccountHandle]? = nil,
        cursor: UInt64? = nil, entriesMax: Int = 100
    ) {
        self.account = account
        self.type = type
        self.publishers = publishers
        self.cursor = cursor
        self.entriesMax = entriesMax
    }
}

/// Whether a status waits for subscribers who are away.
public enum Audience: UInt8, Sendable {
    /// Only those who are online when it is published.
    case onlineOnly
    /// Those who log in later, too; such a status is durable before it is answered.
    case everybody
}

/// Whether the publisher's own other sessions are told.
public enum OwnSessions: UInt8, Sendable {
    case told
    case notTold
}

/// Parameters of `publish`.
public struct Publish: Hashable, Sendable {
    /// Whom an app server acts for; nil for a client's own account.
    public var account: AccountHandle?
    /// What kind of state it is.
    public var type: EventType
    /// The app's value.
    public var value: Int32
    /// After how many seconds the status is gone.
    public var expirySeconds: Int
    /// Free text of the app's; nil: none.
    public var ext: [UInt8]?
    /// Who is to see it.
    public var audience: Audience
    /// Whether the publisher's other sessions see it, too.
    public var ownSessions: OwnSessions

    /// A request to publish.
    public init(
        account: AccountHandle? = nil, type: EventType, value: Int32, expirySeconds: Int,
        ext: [UInt8]? = nil, audience: Audience = .onlineOnly, ownSessions: OwnSessions = .told
    ) {
        self.account = account
        self.type = type
        self.value = value
        self.expirySeconds = expirySeconds
        self.ext = ext
        self.audience = audience
        self.ownSessions = ownSessions
    }
}

/// One account of a `query`: known to the engine, or a name that nobody has used.
public enum QueriedAccount: Hashable, Sendable {
    case known(AccountHandle)
    case unknown(name: [UInt8])
}

/// Parameters of `subscribers`.
public struct ListSubscribers: Hashable, Sendable {
    /// Whose watchers; nil: a name that nobody has used, which has none.
    public var publisher: AccountHandle?
    /// Of what.
    public var type: EventType
    /// Where the page begins: what the page before gave.
    public var cursor: UInt64?
    /// How many entries at most.
    public var entriesMax: Int

    /// A request for a page.
    public init(
        publisher: AccountHandle?, type: EventType, cursor: UInt64? = nil, entriesMax: Int = 100
    ) {
        self.publisher = publisher
        self.type = type
        self.cursor = cursor
        self.entriesMax = entriesMax
    }
}

/// Parameters of `kick`.
public struct Kick: Hashable, Sendable {
    /// Whose sessions; nil: a name that nobody has used, which has none.
    public var account: AccountHandle?
    /// Only this device; nil: all.
    public var device: [UInt8]?
    /// What to tell those who are kicked.
    public var reason: [UInt8]?

    /// A request to kick.
    public init(account: AccountHandle?, device: [UInt8]? = nil, reason: [UInt8]? = nil) {
        self.account = account
        self.device = device
        self.reason = reason
    }
}
