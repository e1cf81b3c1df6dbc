import PresenceStore

func name(_ text: String) -> [UInt8] { Array(text.utf8) }

func names(_ texts: [String]) -> PackedNames { PackedNames(texts.map(name)) }

/// A subscriber's subscriptions to a and b.
func put(_ subscriber: Int) -> Write {
    .putSubscriptions(
        subscriber: name("s\(subscriber)"), type: 1, publishers: names(["a", "b"]),
        created: 1, expires: 2)
}

/// Everything a store holds, by key.
struct Contents: StoreReader, Equatable {
    struct Subscription: Hashable {
        var subscriber: String
        var type: UInt16
        var publisher: String
    }

    struct Times: Equatable {
        var created: Int64
        var expires: Int64
    }

    var sequence: Int64?
    var accounts: [String: AccountRow] = [:]
    var sessions: [[String]: SessionRow] = [:]
    var statuses: [String: StatusRow] = [:]
    var subscriptions: [Subscription: Times] = [:]
    /// By owner and contact.
    var relations: [[String]: RelationRow] = [:]
    var visibilities: [String: UInt8] = [:]
    /// How many accounts have a password.
    var passwordCount = 0
    /// Of the database: equal contents have different ones.
    var secret = Secret()
    /// In the order in which they were loaded.
    var messages: [MessageRow] = []
    var cards: [CardSummary] = []
    /// By account and device.
    var devices: [[String]: DeviceRow] = [:]
    private var subscriber = ""

    init() {}

    init(of directory: String) throws {
        let store = try Store.open(directory: directory, durability: .full)
        try store.load(&self)
        store.stop()
        subscriber = ""
    }

    /// What a store that was opened holds, before its start.
    init(reading store: Store) throws {
        try store.load(&self)
        subscriber = ""
    }

    mutating func sequence(reservedUpTo: Int64) { sequence = reservedUpTo }

    mutating func account(name: Span<UInt8>, value: Int32, lastSeen: Int64) {
        accounts[text(name)] = AccountRow(
            name: Array(text(name).utf8), value: value, lastSeen: lastSeen)
    }

    mutating func session(_ row: SessionRow) {
        sessions[[text(row.account), text(row.device)]] = row
    }

    mutating func status(_ row: StatusRow) {
        statuses["\(text(row.account)) \(row.type)"] = row
    }

    mutating func beginSubscriber(_ name: Span<UInt8>) { subscriber = text(name) }

    mutating func subscription(
        type: UInt16, publisher: Span<UInt8>, created: Int64, expires: Int64
    ) {
        let key = Subscription(subscriber: subscriber, type: type, publisher: text(publisher))
        precondition(subscriptions[key] == nil, "a row comes once")
        subscriptions[key] = Times(created: created, expires: expires)
    }

    /// The subscriptions of one subscriber as "publisher created expires", sorted.
    func subscriptions(of subscriber: String) -> [String] {
        subscriptions.filter { $0.key.subscriber == subscriber }
            .map { "\($0.key.publisher) \($0.value.created) \($0.value.expires)" }.sorted()
    }
}

extension Contents {
    struct Secret: Equatable {
        var bytes: [UInt8] = []
        var identity: Int64?

        static func == (one: Secret, other: Secret) -> Bool { true }
    }

    mutating func passwords(count: Int, secret: [UInt8]) {
        passwordCount = count
        self.secret.bytes = secret
    }

    mutating func identity(_ number: Int64) { secret.identity = number }

    mutating func message(_ row: MessageRow) { messages.append(row) }

    mutating func card(_ summary: CardSummary) { cards.append(summary) }

    mutating func device(_ row: DeviceRow) {
        devices[[text(row.account), text(row.device)]] = row
    }

    mutating func relation(_ row: RelationRow) {
        relations[[text(row.owner), text(row.contact)]] = row
    }

    mutating func visibility(account: Span<UInt8>, value: UInt8) {
        visibilities[text(account)] = value
    }
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

private func text(_ span: Span<UInt8>) -> String {
    var bytes: [UInt8] = []
    for index in span.indices { bytes.append(span[index]) }
    return text(bytes)
}
