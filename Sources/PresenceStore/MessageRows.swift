/// A message that one of its recipients has not taken.
public struct MessageRow: Sendable, Equatable {
    /// The message.
    public var id: Int64
    /// The recipient's place among those of the message.
    ///
    /// With `id` the row's key.
    public var place: UInt16
    /// The recipient.
    public var account: [UInt8]
    /// The only device that it is for; empty: it is for all devices of the account.
    public var device: [UInt8] = []
    /// The size of the content, as the caller counts it.
    public var bytes = 0
    /// When it expires, in milliseconds since 1970.
    public var expires: Int64 = 0
    /// Whether the sender was a stranger to the recipient.
    public var isOfStranger = false
    /// Its place among those that were handed over; 0: it was not.
    public var handOver: Int64 = 0
    /// Why it was handed over, as the caller numbers it.
    public var why: UInt8 = 0
    /// The account of the sender; empty: the service.
    ///
    /// Only in rows that are loaded. It is stored with the content.
    public var sender: [UInt8] = []
    /// When it was sent, in milliseconds since 1970.
    ///
    /// Only in rows that are loaded. It is stored with the content.
    public var time: Int64 = 0

    /// Creates a row; the other fields are set afterwards.
    public init(id: Int64, place: UInt16, account: [UInt8]) {
        self.id = id
        self.place = place
        self.account = account
    }
}

/// The key of a `MessageRow`.
public struct MessageKey: Sendable, Hashable {
    /// The message.
    public var id: Int64
    /// The recipient's place among those of the message.
    public var place: UInt16

    /// Creates a key.
    public init(id: Int64, place: UInt16) {
        self.id = id
        self.place = place
    }
}

/// That a message was handed over for one recipient.
public struct HandOverRow: Sendable, Hashable {
    /// The row of the recipient.
    public var key: MessageKey
    /// Its place among those that were handed over.
    public var number: Int64
    /// Why, as the caller numbers it.
    public var why: UInt8

    /// Creates a row.
    public init(key: MessageKey, number: Int64, why: UInt8) {
        self.key = key
        self.number = number
        self.why = why
    }
}

/// The content of a message, which is stored once for all its recipients.
public struct MessageContentRow: Sendable, Equatable {
    /// The message.
    public var id: Int64
    /// The account of the sender; empty: the service.
    public var sender: [UInt8] = []
    /// The device of the sender; empty if there is none.
    public var senderDevice: [UInt8] = []
    /// When it was sent, in milliseconds since 1970.
    public var time: Int64 = 0
    /// The text.
    public var body: [UInt8] = []
    /// The text for the app; nil if there is none.
    public var ext: [UInt8]?
    /// The sender's own identifier of the message; nil if there is none.
    public var ref: [UInt8]?
    /// The type of the stanza; 0: it is none.
    public var kind = 0
    /// The language of the stanza.
    public var language: [UInt8] = []
    /// The device that the stanza was addressed to; empty: to the account.
    public var addressed: [UInt8] = []
    /// The other elements of the stanza, as XML.
    public var extra: [UInt8] = []

    /// Creates a row; the other fields are set afterwards.
    public init(id: Int64) {
        self.id = id
    }

    /// The bytes of the texts, for the limit on a transaction's size.
    var byteCount: Int { body.count + (ext?.count ?? 0) + (ref?.count ?? 0) + extra.count }
}

extension MessageContentRow: CustomStringConvertible {
    /// Never the texts.
    public var description: String { "MessageContentRow(\(id))" }
}
