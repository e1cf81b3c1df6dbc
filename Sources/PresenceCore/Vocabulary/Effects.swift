/// What the engine wants done, in order. The caller owns the buffer and reuses it.
///
/// Carry out `items` from first to last, then `removeAll()`: the arrays keep their memory,
/// so that a steady state allocates nothing.
public struct Effects: Sendable {
    /// What to do.
    public var items: [Effect] = []
    /// What `Effect.answer` refers to.
    public var answers: [Answer] = []
    /// What `Effect.deliver`, `.states` and answers with states refer to.
    public var events: [Event] = []
    /// What `Event.online` refers to.
    public var devices: [DeviceEntry] = []
    /// Names and texts.
    public var bytes: [UInt8] = []
    /// Slots of connections: what `Effect.deliver` and `.expired` refer to.
    public var receivers: [UInt32] = []
    /// Names: what `Effect.expired` refers to.
    public var names: [ByteRange] = []
    /// What `Effect.persist` refers to.
    public var records: [Record] = []
    /// What `Answer.subscriptions` refers to.
    public var subscriptions: [SubscriptionEntry] = []
    /// What `Answer.subscribers` refers to.
    public var subscribers: [SubscriberEntry] = []
    /// What `Answer.sessions` refers to.
    public var sessions: [SessionEntry] = []

    /// An empty buffer.
    public init() {}

    /// Forgets everything and keeps the memory.
    public mutating func removeAll() {
        items.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
        devices.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        receivers.removeAll(keepingCapacity: true)
        names.removeAll(keepingCapacity: true)
        records.removeAll(keepingCapacity: true)
        subscriptions.removeAll(keepingCapacity: true)
        subscribers.removeAll(keepingCapacity: true)
        sessions.removeAll(keepingCapacity: true)
    }
}

/// One thing to do.
public enum Effect: Hashable, Sendable {
    /// Answer the request that this connection waits for with `answers[index]`.
    case answer(ConnectionID, index: Int)
    /// Refuse the request that this connection waits for.
    case refuse(ConnectionID, Refusal)
    /// Send `events[event]` to every connection in `receivers[range]`.
    case deliver(event: Int, topic: TopicHandle, receivers: Range<Int>)
    /// Encode `events[event]` and keep it for `deliverKept`, until `drop`.
    case keep(FanOutID, event: Int)
    /// Send an event that was kept to every connection in `receivers[range]`.
    case deliverKept(FanOutID, topic: TopicHandle, receivers: Range<Int>)
    /// Forget an event that was kept.
    case drop(FanOutID)
    /// Add `events[event]` to the feed; it stands behind the effects that deliver it.
    case feed(event: Int, topic: TopicHandle)
    /// Send `events[range]` to the connection as states.
    case states(ConnectionID, Range<Int>, StatesKind)
    /// Tell the connection that its login list is complete.
    case synced(ConnectionID, count: Int)
    /// Tell every connection in `receivers` that its subscriptions to `names` have run out.
    case expired(EventType, names: Range<Int>, receivers: Range<Int>)
    /// Store `records[index]`; where there is a ticket, report when it is durable or has failed.
    case persist(Ticket?, index: Int)
    /// End the connection; `nil`: it knows why.
    case close(ConnectionID, CloseReason?)
}

/// What states are sent for.
public enum StatesKind: UInt8, Sendable {
    /// They belong to the list with which a session begins.
    case loginList
    /// They stand for changes that the connection has not been told of one by one.
    case missed
    /// They belong to the list with which a reader of the feed begins.
    case feedList
}

/// Stands for a change that waits to become durable.
public struct Ticket: Hashable, Comparable, Sendable {
    /// Its place among all tickets of this run.
    public let number: UInt64

    /// Stands for the first block of numbers: nobody is served before it is durable.
    public static let start = Ticket(number: 0)

    /// The ticket with this number.
    public init(number: UInt64) {
        self.number = number
    }

    /// Whether `lhs` was given out first.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.number < rhs.number
    }
}

/// A change of what is stored. Absolute, so that carrying it out twice does no harm.
///
/// Handles in it are valid until the effects have been carried out.
public enum Record: Hashable, Sendable {
    /// Existing ones keep their `created`.
    case putSubscriptions(
        subscriber: AccountHandle, type: EventType, publishers: [AccountHandle], created: Wall,
        expires: Wall)
    case removeSubscriptions(
        subscriber: AccountHandle, type: EventType, publishers: [AccountHandle])
    case removeAllSubscriptions(subscriber: AccountHandle, type: EventType)
    case putStatus(StatusRecord)
    case removeStatus(account: AccountHandle, type: EventType)
    case putSession(SessionRecord)
    case removeSession(account: AccountHandle, device: ByteRange)
    case putAccount(account: AccountHandle, value: Int32, lastSeen: Wall)
    case removeAccount(account: AccountHandle)
    /// Every `seq` and session ordinal up to this one may have been used.
    case reserveSequence(upTo: UInt64)
}

/// A status as it is stored; texts in `Effects.bytes`.
public struct StatusRecord: Hashable, Sendable {
    /// Whose.
    public var account: AccountHandle
    /// Of what type.
    public var type: EventType
    /// The app's value.
    public var value: Int32
    /// The app's text.
    public var ext: ByteRange?
    /// Whether it waits for those who are away.
    public var audience: Audience
    /// When it will be gone.
    public var expires: Wall
}

/// A session as it is stored; texts in `Effects.bytes`.
public struct SessionRecord: Hashable, Sendable {
    /// Whose.
    public var account: AccountHandle
    /// On which device.
    public var device: ByteRange
    /// What it runs in.
    public var client: ClientKind
    /// How it is reached when its connection is lost.
    public var reach: Reach
    /// Until when push reaches it; nil: it is connected.
    public var pushUntil: Wall?
    /// Which login it is.
    public var session: SessionID
    /// When it logged in.
    public var loggedIn: Wall
    /// Where it came from.
    public var address: ByteRange
}
