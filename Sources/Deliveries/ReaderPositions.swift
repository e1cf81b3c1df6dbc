public import PresenceWire

/// A message that is to be delivered for a device and is not: its delivery waits or is in progress.
public struct UnfinishedDelivery: Hashable, Sendable {
    /// The number of the message's hand-over.
    public var number: UInt64
    /// The device.
    public var device: String
    /// The recipient.
    public var account: String
    /// When the message was sent, in milliseconds since 1970.
    public var sent: Int64

    /// Creates an unfinished delivery.
    public init(number: UInt64, device: String, account: String, sent: Int64) {
        self.number = number
        self.device = device
        self.account = account
        self.sent = sent
    }
}

/// Where a reader is, and what it has left to do.
public struct ReaderPosition: Sendable {
    /// The position; nil for the beginning.
    public var cursor: String?
    /// What it has not finished before the position.
    public var unfinished: [UnfinishedDelivery]

    /// Creates a position.
    public init(_ cursor: String?, unfinished: [UnfinishedDelivery] = []) {
        self.cursor = cursor
        self.unfinished = unfinished
    }
}

/// A reader has another position, and other deliveries to finish before it.
public struct PositionChange: Sendable {
    /// The position; nil for the beginning.
    public var cursor: String?
    /// What has become unfinished.
    public var begun: [UnfinishedDelivery]
    /// The numbers and devices of what is finished. Of some nothing may be stored.
    public var finished: [(number: UInt64, device: String)]

    /// Creates a change.
    public init(
        _ cursor: String?, begun: [UnfinishedDelivery] = [],
        finished: [(number: UInt64, device: String)] = []
    ) {
        self.cursor = cursor
        self.begun = begun
        self.finished = finished
    }
}

/// Where positions of readers are stored: in the database, or elsewhere in tests.
public struct ReaderPositions: Sendable {
    /// The position of a reader of what is undelivered that begins now, with nothing that waits.
    public let newest: FeedCursor
    private let loadPosition: @Sendable (_ name: String) async -> ReaderPosition?
    private let storeChange: @Sendable (_ name: String, PositionChange) async -> Bool

    /// Positions of readers by their names. `load` is called once for each, and returns nil if
    /// nothing is stored. `store` returns true when the change is durable; if it fails, nothing
    /// has changed.
    public init(
        newest: FeedCursor, load: @escaping @Sendable (_ name: String) async -> ReaderPosition?,
        store: @escaping @Sendable (_ name: String, PositionChange) async -> Bool
    ) {
        self.newest = newest
        loadPosition = load
        storeChange = store
    }

    /// What is stored of a reader.
    public func position(of name: String) async -> ReaderPosition? { await loadPosition(name) }

    /// Stores a change of a reader's position. Returns whether it is durable.
    public func store(_ change: PositionChange, of name: String) async -> Bool {
        await storeChange(name, change)
    }
}
