/// An account that has been seen.
public struct AccountRow: Sendable, Equatable {
    /// The account's name.
    public var name: [UInt8]
    /// The connection's own last value: 1 login, 2 logout, 3 disconnect.
    public var value: Int32
    /// When its last session ended, in milliseconds since 1970.
    public var lastSeen: Int64

    /// Creates a row.
    public init(name: [UInt8], value: Int32, lastSeen: Int64) {
        self.name = name
        self.value = value
        self.lastSeen = lastSeen
    }
}

/// A session that was alive, so that a restart does not log its account out.
public struct SessionRow: Sendable, Equatable {
    /// The account.
    ///
    /// With `device` the row's key.
    public var account: [UInt8]
    /// The device of the account.
    public var device: [UInt8]
    /// The kind of client, as the caller numbers it.
    public var client: UInt8 = 0
    /// Whether the session is push-only.
    public var push = false
    /// Until when it stays online, in milliseconds since 1970.
    public var pushUntil: Int64 = 0
    /// When it began, in milliseconds since 1970.
    public var loggedIn: Int64 = 0
    /// Its place in the order of logins.
    public var ordinal: Int64 = 0
    /// The client's address, as text.
    public var address: [UInt8] = []
    /// How the device presents itself.
    public var availability = AvailabilityRow()

    /// Creates a row; the other fields are set afterwards.
    public init(account: [UInt8], device: [UInt8]) {
        self.account = account
        self.device = device
    }
}

/// How the device of a session presents itself.
public struct AvailabilityRow: Sendable, Equatable {
    /// What it shows, as the caller numbers it.
    public var show: UInt8 = 0
    /// The preference among the devices of the account.
    public var priority: Int8 = 0
    /// A text for people; nil if there is none.
    public var text: [UInt8]?
    /// The language of the text.
    public var language: [UInt8] = []
    /// Further content, which the store does not look into.
    public var extra: [UInt8] = []

    /// As available, and nothing more.
    public init() {}
}

/// What one account keeps of another.
public struct RelationRow: Sendable, Equatable {
    /// The account.
    ///
    /// With `contact` the row's key.
    public var owner: [UInt8]
    /// The other.
    public var contact: [UInt8]
    /// Whether the owner sees the contact: 0 no, 1 it has asked, 2 yes.
    public var state: UInt8 = 0
    /// Whether the contact is on the owner's list, whatever the state.
    public var isListed = false
    /// Whether the contact's next request is accepted at once.
    public var approvesBefore = false
    /// What the owner calls the contact.
    public var label: [UInt8] = []
    /// The text of the owner's request; nil if there is none.
    public var requestText: [UInt8]?
    /// The further content of the owner's request, as XML; empty: none.
    public var requestExtra: [UInt8] = []

    /// Creates a row; the other fields are set afterwards.
    public init(owner: [UInt8], contact: [UInt8]) {
        self.owner = owner
        self.contact = contact
    }

    /// Whether it says nothing: it is not kept.
    public var isEmpty: Bool {
        state == 0 && !isListed && !approvesBefore && label.isEmpty
    }
}

/// A current status.
public struct StatusRow: Sendable, Equatable {
    /// The publisher.
    ///
    /// With `type` the row's key.
    public var account: [UInt8]
    /// The event type.
    public var type: UInt16
    /// The value published.
    public var value: Int32 = 0
    /// Its text; nil if there is none.
    public var ext: [UInt8]?
    /// Whether it is in the login list of subscribers that were offline.
    public var kept = false
    /// When it expires, in milliseconds since 1970.
    public var expires: Int64 = 0

    /// Creates a row; the other fields are set afterwards.
    public init(account: [UInt8], type: UInt16) {
        self.account = account
        self.type = type
    }
}

/// Receives everything that is stored, row by row, at startup.
///
/// Spans are valid during the call only. Expired rows are included: the reader knows the time.
public protocol StoreReader: ~Copyable {
    /// The sequence numbers up to and including this one may have been used.
    mutating func sequence(reservedUpTo: Int64)
    /// An account that has been seen.
    mutating func account(name: Span<UInt8>, value: Int32, lastSeen: Int64)
    /// A session that was alive.
    mutating func session(_ row: SessionRow)
    /// A status.
    mutating func status(_ row: StatusRow)
    /// What an account keeps of another.
    mutating func relation(_ row: RelationRow)
    /// Which of its subscribers see an account, as the caller numbers it.
    mutating func visibility(account: Span<UInt8>, value: UInt8)
    /// How many accounts have a password, and a secret that no other database has. Keys are read
    /// when they are needed (`Read.credential`).
    mutating func passwords(count: Int, secret: [UInt8])
    /// The number that identifies this database.
    mutating func identity(_ number: Int64)
    /// A message that a recipient has not taken, in the order of the keys. Contents are read when
    /// they are needed (`Read.messages`).
    mutating func message(_ row: MessageRow)
    /// That an account has a card. Contents are read when they are needed (`Read.card`).
    mutating func card(_ summary: CardSummary)
    /// What an app has said of a device.
    mutating func device(_ row: DeviceRow)
    /// The subscriptions that follow are this subscriber's. Called once for each subscriber,
    /// so that the reader looks its name up once and not for every row.
    mutating func beginSubscriber(_ name: Span<UInt8>)
    /// A subscription of the subscriber named last.
    mutating func subscription(
        type: UInt16, publisher: Span<UInt8>, created: Int64, expires: Int64)
}
