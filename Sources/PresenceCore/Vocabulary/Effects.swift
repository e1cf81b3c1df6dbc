import Containers

/// The actions that the engine requests, in order. The caller owns the buffer and reuses it.
///
/// Carry out `items` from first to last, then `removeAll()`: the arrays keep their memory,
/// so that a steady state allocates nothing.
public struct Effects: Sendable {
    /// The actions.
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
    /// What `Answer.deviceSet` and `.devices` refer to.
    public var labelled: [LabelledEntry] = []
    /// What `DeviceEntry.availability` refers to.
    public var availabilities: [Availability] = []
    /// What `Answer.contacts` and `.related` refer to.
    public var contacts: [ContactEntry] = []
    /// What `Effect.contact` refers to.
    public var notices: [ContactNotice] = []
    /// What `Effect.direct` refers to.
    public var directed: [DirectedPresence] = []
    /// What `Effect.fetch` refers to.
    public var messages: [MessageID] = []
    /// Entries of tables that the engine has visited in loops that a request can make long, also if
    /// they are no part of the output. An entry takes some 25 ns.
    public private(set) var visits = 0
    /// What `Effect.copy` refers to.
    public var copies: [MessageCopy] = []

    /// An empty buffer.
    public init() {}

    /// A name or a text.
    public func text(_ range: ByteRange) -> ArraySlice<UInt8> {
        bytes[Int(range.start)..<Int(range.start) + Int(range.count)]
    }

    /// Counts entries that were visited: the caller charges whom it serves for them.
    @inline(__always)
    mutating func visit(_ count: Int) { visits += count }

    /// Takes the number of entries that were visited since it was taken last.
    public mutating func takeVisits() -> Int {
        defer { visits = 0 }
        return visits
    }

    /// About how much memory events and answers take, with what they refer to. O(1).
    public var byteCount: Int {
        bytes.count + events.count * MemoryLayout<Event>.stride
            + devices.count * MemoryLayout<DeviceEntry>.stride
            + availabilities.count * MemoryLayout<Availability>.stride
            + subscriptions.count * MemoryLayout<SubscriptionEntry>.stride
            + subscribers.count * MemoryLayout<SubscriberEntry>.stride
            + sessions.count * MemoryLayout<SessionEntry>.stride
            + contacts.count * MemoryLayout<ContactEntry>.stride
            + labelled.count * Self.labelledBytesMax
    }

    /// What a device takes whose labels and push address are as long as they may be.
    private static var labelledBytesMax: Int {
        MemoryLayout<LabelledEntry>.stride + Limits.labelsBytesMax + Limits.pushAddressBytesMax
    }

    /// Forgets everything and keeps the memory.
    public mutating func removeAll() {
        items.clear()
        answers.clear()
        events.clear()
        devices.clear()
        bytes.clear()
        receivers.clear()
        names.clear()
        records.clear()
        subscriptions.clear()
        subscribers.clear()
        sessions.clear()
        labelled.clear()
        availabilities.clear()
        contacts.clear()
        notices.clear()
        directed.clear()
        messages.clear()
        visits = 0
        copies.clear()
    }
}

/// One action.
public enum Effect: Hashable, Sendable {
    /// Answer the request that this connection waits for with `answers[index]`.
    case answer(ConnectionID, index: Int)
    /// Reject the request that this connection waits for.
    case reject(ConnectionID, Rejection)
    /// Send `events[event]` to every connection in `receivers[range]`.
    case deliver(event: Int, topic: TopicHandle, receivers: Range<Int>)
    /// Encode `events[event]` and keep it for `deliverKept`, until `drop`.
    case keep(FanOutID, event: Int)
    /// Send a kept event to every connection in `receivers[range]`.
    case deliverKept(FanOutID, topic: TopicHandle, receivers: Range<Int>)
    /// Forget a kept event.
    case drop(FanOutID)
    /// Add `events[event]` to the feed; it follows the effects that deliver it.
    case feed(event: Int, topic: TopicHandle)
    /// Send `events[range]` to the connection as states.
    case states(ConnectionID, Range<Int>, StatesKind)
    /// Notify the connection that its login list is complete.
    case synced(ConnectionID, count: Int)
    /// The connection has been sent the states of all that it has missed; events follow again.
    case caughtUp(ConnectionID)
    /// Notify every connection in `receivers` that its subscriptions to `names` have ended.
    case expired(EventType, SubscriptionEnd, names: Range<Int>, receivers: Range<Int>)
    /// Send `notices[notice]` to every connection in `receivers[range]`. Never left out.
    case contact(notice: Int, receivers: Range<Int>)
    /// Send `directed[index]` to every connection in `receivers[range]`, each an XMPP client. That
    /// a device is available may be left out for those that do not keep up; its end may not.
    case direct(Int, receivers: Range<Int>)
    /// Store `records[index]`; if there is a ticket, report when it is durable or has failed.
    case persist(Ticket?, index: Int)
    /// Read the contents of these messages, then say so by `handOut` or `fetchFailed`: they are
    /// to be sent to the connection.
    case fetch(ConnectionID, messages: Range<Int>)
    /// Send the message that was stored under the ticket to every connection in
    /// `receivers[range]`, for which it is. Never left out.
    case message(Ticket, receivers: Range<Int>)
    /// Send a copy of that message, `copies[index]`, to every connection in `receivers[range]`,
    /// whose account has sent it. Say so by `missedCopies` for those that do not keep up.
    case copy(Ticket, index: Int, receivers: Range<Int>)
    /// Close the connection; `nil` if it knows why.
    case close(ConnectionID, CloseReason?)
}

/// Why subscriptions have ended.
public enum SubscriptionEnd: UInt8, Sendable {
    /// They were not renewed.
    case expired
    /// Another session of the account, or an app server, has unsubscribed.
    case unsubscribed
}

/// The purpose of states that are sent.
public enum StatesKind: UInt8, Sendable {
    /// They are part of a login list.
    case loginList
    /// They replace changes that the connection has missed.
    case missed
    /// They are part of the snapshot of a feed reader.
    case feedList
}

/// Identifies a change that waits to become durable.
public struct Ticket: Hashable, Comparable, Sendable {
    /// Its place among all tickets of this run.
    public let number: UInt64

    /// The first block of numbers: no client is served before it is durable.
    public static let start = Ticket(number: 0)

    /// The ticket with this number.
    public init(number: UInt64) {
        self.number = number
    }

    /// Whether `lhs` was assigned first.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.number < rhs.number
    }
}

/// A change of the stored data. Absolute, so that applying it twice does no harm.
///
/// Handles in it are valid until the effects have been carried out.
public enum Record: Hashable, Sendable {
    /// Existing ones keep their `created`.
    case putSubscriptions(
        subscriber: AccountHandle, Subscribe<[AccountHandle]>, created: Wall, expires: Wall)
    case removeSubscriptions(subscriber: AccountHandle, Unsubscribe<[AccountHandle]>)
    /// The text in `Effects.bytes`.
    case putStatus(account: AccountHandle, Publish<ByteRange>, expires: Wall)
    case removeStatus(account: AccountHandle, type: EventType)
    case putSession(SessionRecord)
    /// The same of a session that is stored already: only how it presents itself is new.
    case updateSession(SessionRecord)
    case removeSession(account: AccountHandle, device: ByteRange)
    case putAccount(account: AccountHandle, value: Int32, lastSeen: Wall)
    case removeAccount(account: AccountHandle)
    /// What one side of each of these pairs keeps; one that keeps nothing is removed.
    case putRelations([RelationRecord])
    /// Who sees an account; nil: whom the setting says.
    case putVisibility(account: AccountHandle, Visibility?)
    /// The labels of a device, of which there is at least one; and those that the device keeps
    /// which had its push address, if there is one.
    case putDevice(DeviceRecord, takingFrom: DeviceRecord?)
    case removeDevice(account: AccountHandle, device: ByteRange)
    /// A message for all its recipients.
    case putMessage(MessageRecord)
    /// Messages that wait no longer, and that no session is to be sent.
    case removeMessages([WaitingKey])
    /// Messages that wait no longer, and that sessions are still to be sent: their contents are
    /// kept until `removeMessages`, and at most until the next start.
    case takeMessages([WaitingKey])
    /// Messages that wait are handed over. Always has a ticket.
    case handOver([HandOverRecord])
    /// Every `seq` and session ordinal up to this one may have been used.
    case reserveSequence(upTo: UInt64)
}

/// A device as it is stored. One without labels and a push address is removed.
public struct DeviceRecord: Hashable, Sendable {
    /// Its account.
    public var account: AccountHandle
    /// Its name, in `Effects.bytes`.
    public var device: ByteRange
    /// What it has.
    public var labels: DeviceLabels
    /// When it was set last.
    public var updated: Wall

    /// A device.
    public init(account: AccountHandle, device: ByteRange, labels: DeviceLabels, updated: Wall) {
        self.account = account
        self.device = device
        self.labels = labels
        self.updated = updated
    }
}

/// A session as it is stored; texts in `Effects.bytes`.
public struct SessionRecord: Hashable, Sendable {
    /// Its account.
    public var account: AccountHandle
    /// Its device.
    public var device: ByteRange
    /// The kind of its client.
    public var client: ClientKind
    /// Whether push reaches it without its connection.
    public var reach: Reach
    /// Until when it is push-only; nil while it is not.
    public var pushUntil: Wall?
    /// Its id.
    public var session: SessionID
    /// When it logged in.
    public var loggedIn: Wall
    /// The address of its connection.
    public var address: ByteRange
    /// How it presents itself; nil: as available, and nothing more.
    public var availability: Availability?
}

/// What one account keeps of another, as it is stored.
public struct RelationRecord: Hashable, Sendable {
    /// The account.
    public var owner: AccountHandle
    /// The other.
    public var contact: AccountHandle
    /// What it keeps.
    public var side: PairSide
}
