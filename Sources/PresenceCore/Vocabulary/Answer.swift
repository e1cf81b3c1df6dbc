/// The result of a request that was carried out.
///
/// Lists are in the arrays of `Effects`; the ranges here refer to them.
public enum Answer: Hashable, Sendable {
    case loggedIn(LoggedIn)
    case loggedInAppServer(SessionID, time: Wall)
    /// The new end of the session.
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
    /// `entries` is a range of `Effects.sessions`. `messagesWaiting` is nil without messages.
    case sessions(entries: Range<Int>, messagesWaiting: Int?)
    case kicked(Int)
    /// `contact` is an index of `Effects.contacts`.
    case related(contact: Int)
    /// `entries` is a range of `Effects.contacts`; `count` does not include those that only ask.
    case contacts(entries: Range<Int>, count: Int, cursor: UInt64?)
    case visibilitySet(Visibility)
    case availabilitySet
    /// To `show` and `hide`.
    case shown(Shown)
    /// To `lastSeen`; nil: the account is online.
    case lastSeen(Wall?)
    /// To `send`.
    case sent(Sent)
    /// To `take`: how many messages are left for the session.
    case taken(waiting: Int)
    /// To `discard`: how many there were; of a sender, whether more wait.
    case discarded(Int, hasMore: Bool?)
    /// To `setDevice`: an index of `Effects.labelled`.
    case deviceSet(Int)
    /// A range of `Effects.labelled`.
    case devices(Range<Int>)
    /// Carried out; there is nothing to say.
    case done
}

/// What follows when a session shows or hides itself.
public enum Shown: UInt8, Sendable {
    /// Its list, which ends with `Effect.synced`.
    case begins
    /// No list any more: it had shown itself, and is not seen from now on.
    case ends
    /// Nothing.
    case continues
}

/// The answer to `login`.
public struct LoggedIn: Hashable, Sendable {
    /// The account, in `Effects.bytes`.
    public var account: ByteRange
    /// The new session.
    public var session: SessionID
    /// The service's clock.
    public var time: Wall
    /// The number of subscriptions of the account.
    public var subscriptions: Int
    /// When the session ends with its token; nil without a token.
    public var term: TokenTerm?
    /// How many messages wait for it; nil: it is sent none.
    public var waiting: Int?
}

/// Whether there was something to clear.
public enum Cleared: UInt8, Sendable {
    case nothing
    case status
}

/// An entry of `subscriptions`.
public struct SubscriptionEntry: Hashable, Sendable {
    /// The type.
    public var type: EventType
    /// The publisher, in `Effects.bytes`.
    public var publisher: ByteRange
    /// When it was created.
    public var created: Wall
    /// When it expires.
    public var expires: Wall
}

/// An entry of `subscribers`.
public struct SubscriberEntry: Hashable, Sendable {
    /// The subscriber, in `Effects.bytes`.
    public var account: ByteRange
    /// When it was created.
    public var created: Wall
    /// When it expires; nil if it has no timed lease.
    public var expires: Wall?
    /// Whether the publisher has accepted its request.
    public var isApproved: Bool
}

/// An entry of `sessions`.
public struct SessionEntry: Hashable, Sendable {
    /// The session.
    public var session: SessionID
    /// The device's name, in `Effects.bytes`.
    public var device: ByteRange
    /// The kind of its client.
    public var client: ClientKind
    /// When it logged in.
    public var since: Wall
    /// When bytes of it last arrived; while it is connected, the owner of the connections fills
    /// this in.
    public var lastHeard: Wall
    /// The address of its connection, in `Effects.bytes`.
    public var address: ByteRange
    /// The state of its connection.
    public var connection: Connectedness
    /// Its connection, if it has one.
    public var connectionID: ConnectionID?

    /// The state of a session's connection.
    public enum Connectedness: UInt8, CaseIterable, Sendable {
        case connected
        /// Lost within the grace; if the device reconnects in time there is no event.
        case inGrace
        /// Lost; the session is push-only.
        case pushOnly
        /// Not reconnected since the service restarted.
        case awaitingReturn
        /// Connected, and others do not see it.
        case hidden
    }
}

/// What `setDevice` and `devices` say of a device.
public struct LabelledEntry: Hashable, Sendable {
    /// The device's name, in `Effects.bytes`.
    public var device: ByteRange
    /// What it has.
    public var labels: DeviceLabels
    /// Its session; nil: it has none, or is not listed.
    public var session: Session?

    /// A session of a listed device.
    public struct Session: Hashable, Sendable {
        /// The kind of its client.
        public var client: ClientKind
        /// The state of its connection.
        public var connection: SessionEntry.Connectedness
    }
}

/// Counters of the engine. They count since startup, except for current numbers.
public struct Stats: Hashable, Sendable {
    /// Accounts known now.
    public var accounts = 0
    /// Accounts with a session now.
    public var accountsOnline = 0
    /// Sessions of accounts now, including those in grace and push-only ones.
    public var sessions = 0
    /// Sessions that are connected now.
    public var sessionsConnected = 0
    /// Sessions of app servers now.
    public var appServers = 0
    /// Subscriptions in force now.
    public var subscriptions = 0
    /// Statuses in force now.
    public var statuses = 0
    /// Directions of relationships that are accepted now.
    public var relationshipsActive = 0
    /// Directions of relationships that are asked for now.
    public var relationshipsPending = 0
    /// Deadlines in the wheel now.
    public var deadlines = 0
    /// Requests that wait for the store now.
    public var awaitingStore = 0
    /// Requests that wait for an earlier one of the same account now.
    public var deferred = 0
    /// Events.
    public var events = 0
    /// Events sent to connections.
    public var deliveries = 0
    /// Events of large fan-outs that were dropped for newer ones of the same topic.
    public var eventsConflated = 0
    /// Large fan-outs in progress.
    public var fanOuts = 0
    /// Subscriptions that expired.
    public var expiries = 0
    /// Accounts that were forgotten after they had been unused for too long.
    public var accountsForgotten = 0
    /// The memory of the subscription index, in bytes.
    public var subscriptionBytes = 0
    /// The memory of the account names, in bytes.
    public var nameBytes = 0
    /// The memory of statuses, about, in bytes.
    public var statusBytes = 0
    /// That of contacts and requests.
    public var contactBytes = 0
    /// That of the labels and push addresses of devices.
    public var deviceBytes = 0
    /// The memory of the names of sessions' devices, their addresses, and the names of contacts, in
    /// bytes.
    public var textBytes = 0

    /// All zero.
    public init() {}
}
