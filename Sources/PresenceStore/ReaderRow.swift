/// The position of a reader within the service. The store does not look into it.
public struct ReaderRow: Sendable, Equatable {
    /// The row's key.
    public var name: [UInt8]
    /// Its position; nil: the beginning.
    public var cursor: [UInt8]?
    /// What it has not finished before its position.
    public var unfinished: [UnfinishedRow] = []

    /// A reader that has finished everything.
    public init(name: [UInt8], cursor: [UInt8]?) {
        self.name = name
        self.cursor = cursor
    }
}

/// A message that a reader has not finished for a device.
public struct UnfinishedRow: Sendable, Hashable {
    /// The number of the hand-over. With `device` the row's key.
    public var number: Int64
    /// The device.
    public var device: [UInt8]
    /// The recipient.
    public var account: [UInt8]
    /// When the message was sent, in milliseconds since 1970.
    public var sent: Int64

    /// Creates a row.
    public init(number: Int64, device: [UInt8], account: [UInt8], sent: Int64) {
        self.number = number
        self.device = device
        self.account = account
        self.sent = sent
    }
}

/// A reader has another position, and other things to finish before it.
public struct ReaderMove: Sendable {
    /// The reader.
    public var name: [UInt8]
    /// Its position; nil: the beginning.
    public var cursor: [UInt8]?
    /// What it has not finished now.
    public var begun: [UnfinishedRow]
    /// What it has finished; missing ones are ignored.
    public var finished: [(number: Int64, device: [UInt8])]

    /// Creates a move.
    public init(
        _ name: [UInt8], to cursor: [UInt8]?, begun: [UnfinishedRow] = [],
        finished: [(number: Int64, device: [UInt8])] = []
    ) {
        self.name = name
        self.cursor = cursor
        self.begun = begun
        self.finished = finished
    }
}
