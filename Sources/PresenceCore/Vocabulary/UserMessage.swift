/// Parameters of `send`, with names and texts as ranges of its request.
public struct Send: Hashable, Sendable {
    /// The recipients, at least one, each once.
    public var accounts: NameList
    /// Only this device of the one recipient; nil: whichever takes it first.
    public var device: ByteRange?
    /// The text.
    public var body: ByteRange
    /// The app's text; nil if there is none.
    public var ext: ByteRange?
    /// The sender's own id; nil if there is none.
    public var ref: ByteRange?
    /// What else it has as a stanza; nil: no XMPP client has sent it.
    public var stanza: StanzaParts<ByteRange>?
    /// Seconds for which it waits.
    public var expirySeconds: Int

    /// The device that a stanza was addressed to: it alone is sent the message while it is sent
    /// messages. Otherwise it is for all devices of the account.
    var preferredDevice: ByteRange? {
        stanza.flatMap { $0.addressed.count > 0 ? $0.addressed : nil }
    }

    /// A request to send.
    public init(
        accounts: NameList, device: ByteRange? = nil, body: ByteRange, ext: ByteRange? = nil,
        ref: ByteRange? = nil, stanza: StanzaParts<ByteRange>? = nil, expirySeconds: Int
    ) {
        self.accounts = accounts
        self.device = device
        self.body = body
        self.ext = ext
        self.ref = ref
        self.stanza = stanza
        self.expirySeconds = expirySeconds
    }
}

/// What a message of an XMPP client has besides its text. It is for other XMPP clients.
public struct StanzaParts<Text: Hashable & Sendable>: Hashable, Sendable {
    /// What it is for: the types of messages that are stored.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// A part of a conversation.
        case chat = 1
        /// One that stands alone.
        case normal = 2
    }

    /// What it is for.
    public var kind: Kind
    /// The language; empty: not known.
    public var language: Text
    /// The device that it was addressed to; empty: to the account.
    public var addressed: Text
    /// Its other elements, as XML.
    public var extra: Text

    /// The parts of a stanza.
    public init(kind: Kind, language: Text, addressed: Text, extra: Text) {
        self.kind = kind
        self.language = language
        self.addressed = addressed
        self.extra = extra
    }

    /// The same, with the texts as something else.
    public func map<Other>(_ convert: (Text) -> Other) -> StanzaParts<Other> {
        StanzaParts<Other>(
            kind: .init(rawValue: kind.rawValue) ?? .normal, language: convert(language),
            addressed: convert(addressed), extra: convert(extra))
    }
}

extension StanzaParts where Text == ByteRange {
    /// What it counts for in the limits on bytes.
    var byteCount: Int { Int(language.count) + Int(addressed.count) + Int(extra.count) }
}

/// A message, unique over the life of the database. Later ones have higher numbers.
public struct MessageID: Hashable, Comparable, Sendable {
    /// Its place among all numbers of this service.
    public let number: UInt64

    /// The message with this number.
    public init(number: UInt64) {
        self.number = number
    }

    /// Whether `lhs` was requested first.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.number < rhs.number
    }
}

/// The answer to `send`: the message is stored for all its recipients.
public struct Sent: Hashable, Sendable {
    /// The message.
    public var message: MessageID
    /// When it was requested.
    public var time: Wall
    /// Until when it waits.
    public var expires: Wall
    /// The number of accounts that it is for.
    public var recipients: Int
    /// How many of them have a session that is sent it; nil: the sender must not know.
    public var reached: Int?
}

/// A message as it is stored; texts in `Effects.bytes`.
public struct MessageRecord: Hashable, Sendable {
    /// The message.
    public var message: MessageID
    /// Who wrote it; nil: the service.
    public var sender: AccountHandle?
    /// The device on which it was written; nil if that is not known.
    public var senderDevice: ByteRange?
    /// When it was requested.
    public var time: Wall
    /// Until when it waits.
    public var expires: Wall
    /// The text.
    public var body: ByteRange
    /// The app's text.
    public var ext: ByteRange?
    /// The sender's own id.
    public var ref: ByteRange?
    /// What else it has as a stanza; nil: no XMPP client has sent it.
    public var stanza: StanzaParts<ByteRange>?
    /// The recipients. The place in this list is a part of the key of what waits.
    public var recipients: [Recipient]
    /// Only this device of each; nil: whichever takes it first.
    public var device: ByteRange?
    /// What it counts for in the limits on bytes, for each recipient.
    public var byteCount: Int

    /// One who is to get it.
    public struct Recipient: Hashable, Sendable {
        /// The account.
        public var account: AccountHandle
        /// Whether the sender is a stranger to it.
        public var isOfStranger: Bool
        /// Set if it is handed over at once.
        public var handOver: HandOver?
    }
}

/// A message that waits for a recipient, as it is identified in the store.
public struct WaitingKey: Hashable, Sendable {
    /// The message.
    public var message: MessageID
    /// The recipient's place among those of the message.
    public var place: UInt16

    /// The key of a message for the recipient at a place.
    public init(message: MessageID, place: UInt16) {
        self.message = message
        self.place = place
    }
}

/// Counters of messages. They count since startup, except for current numbers.
public struct MessageStats: Hashable, Sendable {
    /// Messages that wait now, each once for each recipient.
    public var waiting = 0
    /// What they count for in the limits on bytes.
    public var waitingBytes = 0
    /// Accounts for which messages wait now.
    public var inboxes = 0
    /// Messages that were stored, each once for each recipient.
    public var stored = 0
    /// Messages that were sent to sessions.
    public var sent = 0
    /// Messages that were taken.
    public var taken = 0
    /// Messages that have expired.
    public var expired = 0
    /// Messages that app servers have discarded.
    public var discarded = 0
    /// Messages that were handed over, by the reason.
    public var undelivered: [UndeliveredReason: Int] = [:]
    /// Messages whose contents were missing in the store.
    public var lost = 0
    /// Reads of contents.
    public var fetches = 0
    /// Reads of contents that have failed.
    public var fetchFailures = 0
    /// Requests to send that were valid and were rejected, by one of `refusalReasons`.
    public var refused: [Refusal.Reason: Int] = [:]

    /// Why the engine rejects a valid request to send.
    public static let refusalReasons: [Refusal.Reason] = [
        .notPermitted, .rateLimited, .inboxFull, .senderQuota, .overloaded, .storeUnavailable,
    ]

    /// All zero.
    public init() {}
}
