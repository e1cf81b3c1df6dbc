import Containers
import Passwords
import PresenceCore
import PresenceWire

/// What the engine host has for a connection loop, in order. Its owner reuses the buffer.
struct Outbound: Sendable {
    /// For all loops.
    var shared = SharedOutput()
    /// For this loop.
    var own = LoopOutput()

    /// Whether there is nothing.
    var isEmpty: Bool { own.items.isEmpty }

    /// About how much memory it takes.
    var byteCount: Int {
        shared.byteCount + own.byteCount
    }

    /// Forgets everything and keeps the memory.
    mutating func removeAll() {
        shared.removeAll()
        own.removeAll()
    }
}

/// What the items of all loops refer to.
struct SharedOutput: Sendable {
    /// Answers, states and names.
    var effects = Effects()
    /// Bodies of events, each encoded once; and lists of events for readers of the feed.
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []

    private static let bytesKeptMax = 1 << 18
    private static let eventsKeptMax = 4_096

    /// Whether there is nothing.
    var isEmpty: Bool {
        ends.isEmpty && effects.bytes.isEmpty && effects.events.isEmpty && effects.answers.isEmpty
            && effects.names.isEmpty
    }

    /// About how much memory it takes.
    var byteCount: Int {
        bytes.count + effects.byteCount
    }

    /// Where the bytes with this number are.
    func range(of number: Int) -> Range<Int> {
        (number == 0 ? 0 : ends[number - 1])..<ends[number]
    }

    /// Adds the bytes that `encode` appends, and returns their number.
    mutating func add(_ encode: (inout [UInt8], borrowing Effects) -> Void) -> Int {
        encode(&bytes, effects)
        ends.append(bytes.count)
        return ends.count - 1
    }

    /// Copies bytes of another output, and returns their number.
    mutating func copyBytes(_ number: Int, from other: borrowing SharedOutput) -> Int {
        bytes += other.bytes[other.range(of: number)]
        ends.append(bytes.count)
        return ends.count - 1
    }

    /// Copies a name of another output.
    mutating func copyName(_ index: Int, from other: borrowing SharedOutput) {
        effects.names.append(copyText(other.effects.names[index], from: other))
    }

    /// Copies a notice of a contact of another output, and returns its index.
    mutating func copyNotice(_ index: Int, from other: borrowing SharedOutput) -> Int {
        var notice = other.effects.notices[index]
        notice.contact.account = copyText(notice.contact.account, from: other)
        notice.contact.label = copyText(notice.contact.label, from: other)
        if let text = notice.contact.requestText {
            notice.contact.requestText = copyText(text, from: other)
        }
        if let extra = notice.contact.requestExtra {
            notice.contact.requestExtra = copyText(extra, from: other)
        }
        effects.notices.append(notice)
        return effects.notices.count - 1
    }

    private mutating func copyText(
        _ text: ByteRange, from other: borrowing SharedOutput
    ) -> ByteRange {
        let start = effects.bytes.count
        effects.bytes += other.effects.bytes[Int(text.start)..<Int(text.start + text.count)]
        return ByteRange(start: Int32(start), count: text.count)
    }

    /// Forgets everything and keeps the memory, unless this was a large turn.
    mutating func removeAll() {
        guard bytes.count <= Self.bytesKeptMax, effects.events.count <= Self.eventsKeptMax,
            effects.bytes.count <= Self.bytesKeptMax
        else {
            self = SharedOutput()
            return
        }
        effects.removeAll()
        bytes.clear()
        ends.clear()
    }
}

/// What one loop has to do.
struct LoopOutput: Sendable {
    var items: [OutboundItem] = []
    /// Slots of this loop: what `OutboundItem.deliver` and `.expired` refer to.
    var receivers: [UInt32] = []
    /// How many receivers there were before those of the item that is being added.
    var receiversBefore = 0

    /// About how much memory it takes.
    var byteCount: Int {
        items.count * MemoryLayout<OutboundItem>.stride
            + receivers.count * MemoryLayout<UInt32>.stride
    }

    private static let receiversKeptMax = 1 << 16
    private static let itemsKeptMax = 4_096

    /// Makes room for as much as another turn had, unless that was a large one.
    mutating func reserve(as other: borrowing LoopOutput) {
        receivers.reserveCapacity(min(other.receivers.count, Self.itemsKeptMax))
    }

    /// Forgets everything and keeps the memory, unless this was a large turn.
    mutating func removeAll() {
        guard receivers.count <= Self.receiversKeptMax, items.count <= Self.itemsKeptMax else {
            self = LoopOutput()
            return
        }
        items.clear()
        receivers.clear()
    }
}

/// One thing that a connection loop has to do for the engine host.
enum OutboundItem: Sendable {
    /// Answer the request that the connection waits for with `effects.answers[index]`.
    case answer(ConnectionID, index: Int)
    /// Refuse the request that the connection waits for.
    indirect case refuse(ConnectionID, Refusal)
    /// Answer it with facts about the service.
    indirect case answerQuestion(ConnectionID, QuestionAnswer)
    /// Send the body of an event to every connection in `receivers[range]`.
    case deliver(body: Int, seq: UInt64, topic: TopicHandle, receivers: Range<Int>)
    /// Send the body to every connection in `receivers[range]`, also to those that do not keep up.
    case deliverAlways(body: Int, receivers: Range<Int>)
    /// Send the stanzas of an event to every connection in `receivers[range]`, each an XMPP client.
    case deliverStanzas(body: Int, seq: UInt64, topic: TopicHandle, receivers: Range<Int>)
    /// Send the body to every connection in `receivers[range]`, each an XMPP client.
    case direct(body: Int, DirectedDelivery, receivers: Range<Int>)
    /// Notify every connection in `receivers[range]`, each an XMPP client, of
    /// `effects.notices[notice]`.
    case contact(notice: Int, receivers: Range<Int>)
    /// What has become of the credentials of an XMPP client.
    indirect case credentials(ConnectionID, CredentialAnswer)
    /// Send the body to an XMPP client that keeps up.
    case relay(body: Int, ConnectionID)
    /// Notify every connection in `receivers[range]` that its subscriptions to `effects.names`
    /// have ended.
    case expired(EventType, SubscriptionEnd, names: Range<Int>, receivers: Range<Int>)
    /// Send `effects.events[range]` to the connection as states.
    case states(ConnectionID, Range<Int>, StatesKind)
    /// The login list of the connection is complete.
    case synced(ConnectionID, count: Int)
    /// The connection has been sent the states of all topics that it had missed.
    case caughtUp(ConnectionID)
    /// The connection was not handed an event, since its loop was stalled; it is to ask for the
    /// newest states when it has drained.
    case missed(ConnectionID)
    /// Something for a feed reader.
    indirect case feed(ConnectionID, FeedMessage)
    /// Close the connection; no reason if it knows why.
    case close(ConnectionID, CloseReason?, retryAfterSeconds: Int?)
    /// Measure what the question with this number asks for.
    indirect case measure(LoopQuestion, question: UInt64)
    /// Go on with another configuration.
    indirect case configure(Configuration)
    /// Give back buffers that were not used lately.
    case trim
    /// Accept connections.
    case startListening
    /// Connections are served from now on.
    case serve
    /// Accept no more connections.
    case stopListening
    /// Tell every connection that the service shuts down, and close it.
    case farewell
    /// Leave the loop.
    case stop
}

extension OutboundItem {
    /// Whether it refers to something in `SharedOutput` and is not pushed: see
    /// `SealedOutbound.init(copyingFrom:)`.
    var refersToAnswers: Bool {
        switch self {
        case .answer, .refuse, .answerQuestion, .deliver, .deliverStanzas, .relay, .states, .feed:
            true
        case .contact, .credentials, .deliverAlways, .direct, .expired, .synced, .caughtUp,
            .missed, .close, .measure, .configure, .trim, .startListening, .serve, .stopListening,
            .farewell, .stop:
            false
        }
    }
}

/// A message to a feed reader.
enum FeedMessage: Sendable {
    /// The answer to its request: it goes on after the cursor, or is reset.
    case began(after: FeedCursor?)
    /// The reader is reset.
    case reset
    /// A list of events, and the cursor after them; nil: its snapshot is incomplete.
    case events(FeedShare, FeedCursor?)
    /// Its snapshot is complete.
    case synced(FeedCursor)
}

/// Events for a feed reader.
struct FeedShare: Sendable {
    /// The number of their bytes in `SharedOutput`, with commas between the events.
    var list: Int
    var count: Int
    /// When the first of them happened; nil if there is none.
    var firstTime: Wall?
}

/// The answer to a question about the service, or to a change of a password.
enum QuestionAnswer: Sendable {
    case stats([StatsField])
    case metrics([UInt8])
    case why(WhyReport, subscriber: [UInt8], publisher: [UInt8])
    case top(TopReport)
    /// The password is set; whether there was another.
    case passwordSet(replaced: Bool)
    /// The password is removed; whether there was one.
    case passwordRemoved(Bool)
}

/// What has become of the credentials of an XMPP client, if they were not refused.
enum CredentialAnswer: Sendable {
    /// Accounts are not proved.
    case claimed
    /// The token is one of the account.
    case token(TokenTerm)
    /// The password is that of the account.
    case password
    /// The keys of the account, or decoys.
    case keys(StoredKeys)
    /// The account is registered.
    case registered
    /// The account has a password already.
    case nameTaken
    /// There are as many accounts with a password as there may be.
    case registrationsFull
}
