public import PresenceCore

/// Where a reader of the feed begins.
public enum FeedStart: Hashable, Sendable {
    /// After its cursor.
    case resumed
    /// After this position, which was the newest when it began.
    case now(FeedCursor)
    /// With a snapshot.
    case reset
}

/// What a feed reader in this process is given, one after the other.
public enum FeedItem: Hashable, Sendable {
    /// The reader must forget what it has; a snapshot follows.
    case reset
    /// Changes, and the position after them.
    case changes(FeedEvents, FeedCursor)
    /// Current states: a part of a snapshot.
    case states(FeedEvents)
    /// The snapshot is complete.
    case synced(FeedCursor)
    /// Messages that no device has taken in time, and the position after them; for a reader of
    /// those.
    case undelivered(FeedEvents, FeedCursor)

    /// What a notification of the feed has as its `params`.
    public var params: [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .reset: bytes.appendFeedResetParams()
        case .changes(let events, let cursor):
            bytes.appendFeedParams(events.bytes, cursor: cursor)
        case .states(let events): bytes.appendFeedParams(events.bytes, cursor: nil)
        case .synced(let cursor): bytes.appendFeedSyncedParams(cursor: cursor)
        case .undelivered(let messages, let cursor):
            bytes.appendUndeliveredParams(messages.bytes, cursor: cursor)
        }
        return bytes
    }
}

/// One or more events for a feed reader.
public struct FeedEvents: Hashable, Sendable {
    /// JSON, with commas between the events.
    public var bytes: [UInt8]
    /// How many there are.
    public var count: Int
    /// When the first of them happened.
    public var firstTime: Wall
    /// Of undelivered messages: what the bytes say.
    public var undelivered: [UndeliveredEntry]
    /// Of changes: whether there were no more when they were read.
    public var areNewest: Bool

    /// These events.
    public init(
        bytes: [UInt8], count: Int, firstTime: Wall, undelivered: [UndeliveredEntry] = [],
        areNewest: Bool = false
    ) {
        self.bytes = bytes
        self.count = count
        self.firstTime = firstTime
        self.undelivered = undelivered
        self.areNewest = areNewest
    }
}
