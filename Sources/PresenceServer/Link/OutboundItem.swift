import Passwords
import PresenceCore
import PresenceWire

// What the engine host has for a loop: one type for each kind of addressee. So a caller in process,
// which is no connection, cannot be handed what only connections have.

/// One thing that a connection loop has to do for the engine host.
enum OutboundItem: Sendable {
    /// For a caller: here a client; other callers are in process.
    case caller(ConnectionID, CallerItem)
    /// For one client.
    case client(ConnectionID, ClientItem)
    /// For every connection in `receivers[range]`.
    case fanOut(FanOutItem, BatchRange<Receiver>)
    /// For the loop as a whole.
    case loop(LoopItem)
}

/// One thing that a loop in process has to do for the engine host.
enum InProcessItem: Sendable {
    /// For a call, or for a reader of the feed.
    case caller(ConnectionID, CallerItem)
    /// Use another configuration from now on.
    indirect case configure(Configuration)
    /// The service shuts down.
    case farewell
}

/// What a caller has asked for, or its end.
enum CallerItem: Sendable {
    /// Answer its request with `effects.answers[index]`.
    case answer(BatchIndex<Answer>)
    /// Reject its request.
    indirect case reject(Rejection)
    /// Answer its request with facts about the service.
    indirect case answerQuestion(QuestionAnswer)
    /// Send it `effects.events[range]` as states.
    case states(BatchRange<Event>, StatesKind)
    /// Something for a feed reader.
    indirect case feed(FeedMessage)
    /// End it; no reason if it knows why.
    case close(CloseReason?, retryAfterSeconds: Int?)
}

/// What only a client has, which is a connection.
enum ClientItem: Sendable {
    /// What has become of the credentials of an XMPP client.
    indirect case credentials(CredentialAnswer)
    /// What has become of the request of an XMPP client for a card.
    indirect case card(CardAnswer)
    /// Send the stanza to an XMPP client that keeps up.
    case relay(BatchIndex<Stanzas>)
    /// Its login list is complete.
    case synced(count: Int)
    /// It has been sent the states of all topics that it had missed.
    case caughtUp
    /// It was not handed an event, since its loop was stalled; it is to ask for the newest states
    /// when it has drained.
    case missed
}

/// What is for many connections.
enum FanOutItem: Sendable {
    /// Send the body of an event.
    case deliver(seq: UInt64, BatchIndex<Body>, TopicHandle)
    /// Send the stanzas of an event to XMPP clients.
    case deliverStanzas(seq: UInt64, BatchIndex<Stanzas>, TopicHandle)
    /// Send the body also to those that do not keep up.
    case deliverAlways(BatchIndex<Body>)
    /// Send the body with a copy of a message to those that keep up. The others miss
    /// `missedCount` copies, with those before.
    case copy(BatchIndex<Body>, missedCount: Int)
    /// Send messages, of which `last` is the last, to XMPP clients.
    case messages(BatchIndex<Stanzas>, last: MessageID)
    /// Send a presence for one address to XMPP clients.
    case direct(BatchIndex<Stanzas>, DirectedDelivery)
    /// Notify XMPP clients of `effects.notices[index]`.
    case contact(BatchIndex<ContactNotice>)
    /// Notify them that their subscriptions to `effects.names[range]` have ended.
    case expired(EventType, SubscriptionEnd, names: BatchRange<ByteRange>)
}

/// What is about a loop as a whole.
enum LoopItem: Sendable {
    /// Measure what the question with this number asks for.
    indirect case measure(LoopQuestion, question: UInt64)
    /// Use another configuration from now on.
    indirect case configure(Configuration)
    /// Free buffers that were not used recently.
    case trim
    /// Accept connections.
    case startListening
    /// Connections are served from now on.
    case serve
    /// Accept no more connections.
    case stopListening
    /// Close every connection, with the reason that the service shuts down.
    case farewell
    /// Leave the loop.
    case stop
}

// What waits for a stalled loop gets a copy of what it refers to, unless that answers a request:
// see `SealedOutbound.init(copyingFrom:)`.

extension OutboundItem {
    /// Whether it refers to something in `SharedOutput` and is not pushed.
    var refersToAnswers: Bool {
        switch self {
        case .caller(_, let item): item.refersToAnswers
        case .client(_, let item): item.refersToAnswers
        case .fanOut(let item, _): item.refersToAnswers
        case .loop: false
        }
    }
}

extension CallerItem {
    fileprivate var refersToAnswers: Bool {
        switch self {
        case .answer, .reject, .answerQuestion, .states, .feed: true
        case .close: false
        }
    }
}

extension ClientItem {
    fileprivate var refersToAnswers: Bool {
        switch self {
        case .relay: true
        case .credentials, .card, .synced, .caughtUp, .missed: false
        }
    }
}

extension FanOutItem {
    fileprivate var refersToAnswers: Bool {
        switch self {
        case .deliver, .deliverStanzas, .copy: true
        case .deliverAlways, .messages, .direct, .contact, .expired: false
        }
    }
}

/// A message to a feed reader.
enum FeedMessage: Sendable {
    /// The answer to its request to begin there: it continues after the cursor, or is reset.
    case began(FeedBeginning, after: FeedCursor?)
    /// The reader is reset.
    case reset
    /// A list of events, and the cursor after them; nil: its snapshot is incomplete.
    case events(FeedShare, FeedCursor?)
    /// Its snapshot is complete.
    case synced(FeedCursor)
    /// The answer to a request to read what is undelivered: the reader continues after the cursor.
    case beganUndelivered(FeedCursor)
    /// Messages that no device has taken in time, and the cursor after them.
    case undelivered(FeedShare, FeedCursor)
}

/// Events for a feed reader.
struct FeedShare: Sendable {
    /// Their bytes, with commas between the events.
    var list: BatchIndex<Body>
    var count: Int
    /// When the first of them happened; nil if there is none.
    var firstTime: Wall?
    /// Of undelivered messages, for a reader in this process: what the bytes say.
    var undelivered: [UndeliveredEntry] = []
    /// Of changes: whether there are no more.
    var isNewest = false
}

/// What has become of the credentials of an XMPP client, if they were not rejected.
enum CredentialAnswer: Sendable {
    /// Accounts are not proved.
    case claimed
    /// The token is one of the account.
    case token(TokenTerm)
    /// The password is that of the account.
    case password
    /// The keys of the account, or decoys.
    case keys(StoredKeys)
    /// The proof by SCRAM is right.
    case proof(ScramHash)
    /// The account is registered.
    case registered
    /// The account has a password already.
    case nameTaken
    /// There are as many accounts with a password as there may be.
    case registrationsFull
}
