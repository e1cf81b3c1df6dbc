public import PresenceCore

/// The request in one frame. Every limit that depends on the request alone has been checked.
///
/// Names and texts are ranges of the decoder's text, and lists are ranges of its names: they are
/// valid until the decoder reads the next frame. `RequestTexts` keeps them longer.
public struct Request: Hashable, Sendable {
    /// The `id` that the response repeats.
    public var id: RequestID
    /// The method and its parameters.
    public var method: Method
    /// What the response says of members that were ignored.
    public var warnings: [ParameterWarning] = []

    /// What the response to it needs.
    public var answered: RequestID {
        warnings.isEmpty || id == .none ? id : .warned(id, warnings)
    }
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
    /// One of the others, of a request whose result has these warnings.
    indirect case warned(RequestID, [ParameterWarning])
}

/// The method of a request and its parameters.
public enum Method: Hashable, Sendable {
    /// Carried out by the engine.
    case command(Command)
    /// Begins a session, once the credentials have been verified.
    case login(LoginRequest)
    /// Continues the session, once the token has been verified.
    case refresh(RefreshRequest)
    /// Answered by the service, about itself.
    case question(ServiceQuestion)
    /// Sets or removes the password of an account.
    case password(PasswordChange)
    /// Begins to read the feed.
    case feed(FeedBeginning)
    /// Begins to read what no device has taken in time. The cursor is nil if it is missing or
    /// unknown: from the beginning.
    case undelivered(FeedCursor?)
}

/// Where a reader of the feed wants to begin.
public enum FeedBeginning: Hashable, Sendable {
    /// With a snapshot: it has no cursor, or an invalid one.
    case snapshot
    case after(FeedCursor)
    /// With what happens from now on.
    case now
}

/// A question about the service.
public enum ServiceQuestion: Hashable, Sendable {
    case stats
    case metrics
    case why(WhyRequest)
    case top(TopRequest)
}

extension Method {
    /// The method, without the parameters.
    public var name: MethodName {
        switch self {
        case .command(let command): command.name
        case .login: .login
        case .refresh: .refresh
        case .question(.stats): .stats
        case .question(.metrics): .metrics
        case .question(.why): .why
        case .question(.top): .top
        case .password(let change): change.password == nil ? .removePassword : .setPassword
        case .feed: .feed
        case .undelivered: .undelivered
        }
    }
}

/// The credentials of a login.
public enum Credential: Hashable, Sendable {
    /// A JWT whose `sub` is the account.
    case token(ByteRange)
    /// A self-asserted account; only with `--auth open`.
    case account(ByteRange)
    /// An account and its password.
    case password(account: ByteRange, password: ByteRange)
    /// A server key.
    case key(ByteRange)
    /// An app server without credentials; only with `--auth open`.
    case appServer
}

/// Parameters of `login`.
public struct LoginRequest: Hashable, Sendable {
    /// The credentials.
    public var credential: Credential
    /// The device; present in logins of accounts.
    public var device: ByteRange?
    /// The kind of client.
    public var client: ClientKind
    /// Whether the device receives push messages while it is not connected.
    public var reach: Reach
    /// The states in the login list.
    public var sync: LoginList
    /// By which leases the session is sent events.
    public var hears: Leases
    /// Whether the session is sent messages.
    public var messages: Login.MessageDelivery
}

/// Parameters of `refresh`.
public struct RefreshRequest: Hashable, Sendable {
    /// A JWT whose `sub` is the session's account.
    public var token: ByteRange
}

/// Parameters of `setPassword` and `removePassword`.
public struct PasswordChange: Hashable, Sendable {
    /// The account.
    public var account: ByteRange
    /// The new password, as it was given; nil: it is removed.
    public var password: ByteRange?
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
