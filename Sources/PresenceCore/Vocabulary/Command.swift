/// A request to the engine, with its names interned and its bounds checked.
///
/// The caller has checked the bounds that depend on the request alone; the engine checks those that
/// depend on its state.
public enum Command: Hashable, Sendable {
    /// Begin a session of an account.
    case login(Login)
    /// Begin a session of an app server, which has no account and causes no presence events.
    case loginAppServer
    /// Continue the session until another token ends. `account` is that of the token; nil for a
    /// name that is not known.
    case refresh(account: AccountHandle?, TokenTerm)
    /// End the session by a logout.
    case logout
    /// Return the time; a sign of life.
    case ping
    /// Subscribe to publishers for a while.
    case subscribe(Subscribe)
    /// Unsubscribe from publishers, or from all of a type.
    case unsubscribe(Unsubscribe)
    /// List the subscriptions of an account.
    case subscriptions(ListSubscriptions)
    /// Set the status of a publisher.
    case publish(Publish)
    /// Clear the status of a publisher. `account` is for app servers.
    case clear(account: AccountHandle?, type: EventType)
    /// Read states.
    case query(type: EventType, accounts: [QueriedAccount])
    /// List the subscribers of a publisher.
    case subscribers(ListSubscribers)
    /// List an account's sessions.
    case sessions(account: AccountHandle?)
    /// End sessions of an account.
    case kick(Kick)
    /// Return the counters.
    case stats
}

/// The method of a request, whatever its parameters.
public enum CommandKind: String, CaseIterable, Sendable {
    case login, refresh, logout, ping, subscribe, unsubscribe, subscriptions, publish, clear
    case query, subscribers, sessions, kick, stats
    /// Answered by the owner of the engine, from what the engine reports.
    case metrics, why, top
    /// Answered by the owner of the feed; the engine only checks permission.
    case feed
}

extension Command {
    /// The kind of the command.
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
    /// The account, already authenticated.
    public var account: AccountHandle
    /// The device's name; unique within its account.
    public var device: [UInt8]
    /// The kind of its client.
    public var client: ClientKind
    /// Whether push reaches the device when its connection is lost.
    public var reach: Reach
    /// The states in the login list.
    public var sync: LoginList
    /// The address of the connection, shown to app servers.
    public var address: [UInt8]
    /// When the session ends with its token; nil without a token.
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

/// The states that a session is sent when it logs in.
public enum LoginList: UInt8, CaseIterable, Sendable {
    /// None.
    case none
    /// Those of publishers that are online or have a durable status.
    case online
    /// All, including offline and unknown ones.
    case all
}

/// Whether the response includes the states of the publishers.
public enum SubscribeAnswer: UInt8, Sendable {
    case withoutStates
    case withStates
}

/// Parameters of `subscribe`.
public struct Subscribe: Hashable, Sendable {
    /// The account that an app server acts for; nil for a client's own account.
    public var account: AccountHandle?
    /// The type.
    public var type: EventType
    /// Seconds until it expires.
    public var expirySeconds: Int
    /// The publishers, without duplicates, in the order of the request.
    public var publishers: [AccountHandle]
    /// Whether the response includes their states.
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
    /// The account that an app server acts for; nil for a client's own account.
    public var account: AccountHandle?
    /// The type.
    public var type: EventType
    /// The publishers, without duplicates; nil for all.
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
    /// The account that an app server acts for; nil for a client's own account.
    public var account: AccountHandle?
    /// Only this type; nil for all.
    public var type: EventType?
    /// Only these publishers; nil for all. The caller leaves out unknown names.
    public var publishers: [AccountHandle]?
    /// The beginning of the page, from the previous one.
    public var cursor: UInt64?
    /// The most entries on the page.
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

/// Whether a status is durable.
public enum Audience: UInt8, Sendable {
    /// No: it is for subscribers that are online when it is published.
    case onlineOnly
    /// Yes: it is also for those that log in later, and is on disk before the response.
    case everybody
}

/// Whether the publisher's own other sessions receive the event.
public enum OwnSessions: UInt8, Sendable {
    case told
    case notTold
}

/// Parameters of `publish`.
public struct Publish: Hashable, Sendable {
    /// The account that an app server acts for; nil for a client's own account.
    public var account: AccountHandle?
    /// The type.
    public var type: EventType
    /// The app's value.
    public var value: Int32
    /// Seconds until the status expires.
    public var expirySeconds: Int
    /// The app's text; nil if there is none.
    public var ext: [UInt8]?
    /// Whether it is durable.
    public var audience: Audience
    /// Whether the publisher's other sessions receive it, too.
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

/// One account of a `query`: known to the engine, or an unknown name.
public enum QueriedAccount: Hashable, Sendable {
    case known(AccountHandle)
    case unknown(name: [UInt8])
}

/// Parameters of `subscribers`.
public struct ListSubscribers: Hashable, Sendable {
    /// The publisher; nil for an unknown name, which has no subscribers.
    public var publisher: AccountHandle?
    /// The type.
    public var type: EventType
    /// The beginning of the page, from the previous one.
    public var cursor: UInt64?
    /// The most entries on the page.
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
    /// The account; nil for an unknown name, which has no sessions.
    public var account: AccountHandle?
    /// Only this device; nil for all.
    public var device: [UInt8]?
    /// The reason that the clients are sent.
    public var reason: [UInt8]?

    /// A request to kick.
    public init(account: AccountHandle?, device: [UInt8]? = nil, reason: [UInt8]? = nil) {
        self.account = account
        self.device = device
        self.reason = reason
    }
}
