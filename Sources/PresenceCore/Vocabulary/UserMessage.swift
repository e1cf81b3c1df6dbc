/// Parameters of `send`, with names and texts as ranges of its request.
public struct Send: Hashable, Sendable {
    /// Whom it is for.
    public var recipients: Recipients
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
    /// Whether other sessions of the sender that ask for copies are sent one.
    public var isCopied: Bool

    /// A request to send.
    public init(
        to recipients: Recipients, body: ByteRange, ext: ByteRange? = nil,
        ref: ByteRange? = nil, stanza: StanzaParts<ByteRange>? = nil, expirySeconds: Int,
        isCopied: Bool = true
    ) {
        self.recipients = recipients
        self.body = body
        self.ext = ext
        self.ref = ref
        self.stanza = stanza
        self.expirySeconds = expirySeconds
        self.isCopied = isCopied
    }
}

/// Whom a message is for.
public enum Recipients: Hashable, Sendable {
    /// These accounts, at least one: of each, whichever device takes it first.
    case accounts(NameList)
    /// Only this device of the one account.
    case device(ByteRange, of: NameList)
    /// Every device that has one of these aliases, at least one.
    case aliases(NameList)
    /// Every device that these tags select.
    case tags(Tags)

    /// Tags that select devices.
    public struct Tags: Hashable, Sendable {
        /// At least one of these.
        public var any: NameList?
        /// All of these. They or `any` are given.
        public var all: NameList?
        /// None of these.
        public var not: NameList?

        /// A selection.
        public init(any: NameList?, all: NameList?, not: NameList?) {
            self.any = any
            self.all = all
            self.not = not
        }
    }
}

/// What a message of an XMPP client has besides its text. It is for other XMPP clients.
public struct StanzaParts<Text: Hashable & Sendable>: Hashable, Sendable {
    /// What it is for: the types of messages that are stored.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// A part of a conversation.
        case chat = 1
        /// One that belongs to no conversation.
        case normal = 2
        /// That a message was received; `extra` is the id of its stanza (XEP-0184). A native client
        /// has sent it.
        case receipt = 3
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
    /// How many accounts it is for, or devices if they were selected by their labels.
    public var recipients: Int
    /// How many of them have a session that is sent it; nil: the sender must not know.
    public var reached: Int?
    /// Devices that were selected by their labels and do not get it, since the boxes of their
    /// accounts are full.
    public var passedOver = 0
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
    /// What it counts for in the limits on bytes, for each recipient.
    public var byteCount: Int

    /// One who is to get it.
    public struct Recipient: Hashable, Sendable {
        /// The account.
        public var account: AccountHandle
        /// Only this device; nil: whichever takes it first.
        public var device: ByteRange?
        /// Whether it counts in the half of the room that is for strangers.
        public var isOfStranger: Bool
        /// Set if it is handed over at once.
        public var handOver: HandOver?
    }
}

/// A message that waits for a recipient, as it is identified in the store.
///
/// They are in the order of the messages, and of their recipients.
public struct WaitingKey: Hashable, Comparable, Sendable {
    /// The message.
    public var message: MessageID
    /// The recipient's place among those of the message.
    public var place: UInt16

    /// The key of a message for the recipient at a place.
    public init(message: MessageID, place: UInt16) {
        self.message = message
        self.place = place
    }

    /// Whether `lhs` is of an earlier message, or of an earlier recipient of the same.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.message == rhs.message ? lhs.place < rhs.place : lhs.message < rhs.message
    }
}

/// A part of the room for the bytes of all messages, which its senders share.
public enum MessageShare: String, CaseIterable, Sendable {
    /// All of it.
    case all
    /// That of accounts: all but a quarter.
    case accounts
    /// That of strangers to the recipients: half.
    case strangers
    /// That of one account: while it holds at most an eighth of what is left.
    case sender
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
    /// Messages that were taken, by the first session.
    public var taken = 0
    /// Messages that were taken and that other sessions are still to be sent.
    public var owed = 0
    /// What they count for in limits on bytes.
    public var owedBytes = 0
    /// Messages that a session was not sent since it had left too many, each once for each session.
    public var missed = 0
    /// Copies of messages for other sessions of their senders.
    public var copies = 0
    /// Those of them that were left out since a session did not keep up.
    public var copiesMissed = 0
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
    /// Devices that were selected by their labels and did not get a message, for want of room.
    public var passedOver = 0
    /// What waits of accounts, in bytes, with what is being stored.
    public var bytesOfAccounts = 0
    /// What waits of strangers to the recipients, and of app servers by labels; the same.
    public var bytesOfStrangers = 0
    /// Requests to send that were rejected because a share was used up.
    public var rejectedOfShare: [MessageShare: Int] = [:]
    /// Requests to send that were valid and were rejected, by one of `rejectionReasons`.
    public var rejected: [Rejection.Reason: Int] = [:]

    /// Why the engine rejects a valid request to send.
    public static let rejectionReasons: [Rejection.Reason] = [
        .notPermitted, .rateLimited, .inboxFull, .senderQuota, .overloaded, .storeUnavailable,
    ]

    /// All zero.
    public init() {}
}
