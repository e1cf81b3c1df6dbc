/// What a command that was carried out gives back.
///
/// Lists stand in the arrays of `Effects`; the ranges here point into them.
public enum Answer: Hashable, Sendable {
    case loggedIn(LoggedIn)
    case loggedInAppServer(SessionID, time: Wall)
    /// The session goes on for as long as this.
    case refreshed(TokenTerm)
    case loggedOut
    case pong(time: Wall)
    /// `states` is a range of `Effects.events`.
    case subscribed(expires: Wall, count: Int, states: Range<Int>?)
    case unsubscribed(removed: Int, count: Int)
    /// `entries` is a range of `Effects.subscriptions`.
    case subscriptions(entries: Range<Int>, count: Int, cursor: UInt64?)
    case published(seq: UInt64, time: Wall, expires: Wall)
    case cleared(Cleared)
    /// A range of `Effects.events`.
    case states(Range<Int>)
    /// `entries` is a range of `Effects.subscribers`.
    case subscribers(entries: Range<Int>, count: Int, cursor: UInt64?)
    /// A range of `Effects.sessions`.
    case sessions(Range<Int>)
    case kicked(Int)
    case stats(Stats)
}

/// The answer to `login`.
public struct LoggedIn: Hashable, Sendable {
    /// Who has logged in, in `Effects.bytes`.
    public var account: ByteRange
    /// The new session.
    public var session: SessionID
    /// What the service's clock shows.
    public var time: Wall
    /// How many subscriptions the account has.
    public var subscriptions: Int
    /// How long the session may go on; nil: for ever.
    public var term: TokenTerm?
}

/// Whether there was something to clear.
public enum Cleared: UInt8, Sendable {
    case nothing
    case status
}

/// A line of `subscriptions`.
public struct SubscriptionEntry: Hashable, Sendable {
    /// What is watched.
    public var type: EventType
    /// Who is watched, in `Effects.bytes`.
    public var publisher: ByteRange
    /// Since when.
    public var created: Wall
    /// Until when.
    public var expires: Wall
}

/// A line of `subscribers`.
public struct SubscriberEntry: Hashable, Sendable {
    /// Who watches, in `Effects.bytes`.
    public var account: ByteRange
    /// Since when.
    public var created: Wall
    /// Until when.
    public var expires: Wall
}

/// A line of `sessions`.
public struct SessionEntry: Hashable, Sendable {
    /// The session.
    public var session: SessionID
    /// The device's name, in `Effects.bytes`.
    public var device: ByteRange
    /// What it runs in.
    public var client: ClientKind
    /// When it logged in.
    public var since: Wall
    /// When it was last heard.
    public var lastHeard: Wall
    /// Where it comes from, in `Effects.bytes`.
    public var address: ByteRange
    /// What has become of its connection.
    public var connection: Connectedness

    /// What has become of a session's connection.
    public enum Connectedness: UInt8, CaseIterable, Sendable {
        case connected
        /// Lost a moment ago; a return in time makes no event.
        case inGrace
        /// Lost; only push reaches the device.
        case pushOnly
        /// Not yet back since the service restarted.
        case awaitingReturn
    }
}

/// What the engine counts. All are since its start unless they are numbers of things now.
public struct Stats: Hashable, Sendable {
    /// Accounts known now.
    public var accounts = 0
    /// Accounts of which some device is online now.
    public var accountsOnline = 0
    /// Sessions of accounts now, those in grace and push-reachable ones included.
    public var sessions = 0
    /// Sessions that are connected now.
    public var sessionsConnected = 0
    /// Sessions of app servers now.
    public var appServers = 0
    /// Subscriptions in force now.
    public var subscriptions = 0
    /// Statuses in force now.
    public var statuses = 0
    /// Deadlines in the wheel now.
    public var deadlines = 0
    /// Requests that wait for the store now.
    public var awaitingStore = 0
    /// Requests that wait for an earlier one of the same account now.
    public var deferred = 0
    /// Events made.
    public var events = 0
    /// Events handed to connections.
    public var deliveries = 0
    /// Events of large fan-outs that gave way to newer ones of the same topic.
    public var eventsConflated = 0
    /// Large fan-outs under way now.
    public var fanOuts = 0
    /// Subscriptions that ran out.
    public var expiries = 0
    /// Accounts that had been gone for too long to be remembered.
    public var accountsForgotten = 0
    /// Bytes that the subscription index takes.
    public var subscriptionBytes = 0
    /// Bytes that the account names take.
    public var nameBytes = 0

    /// All zero.
    public init() {}
}
