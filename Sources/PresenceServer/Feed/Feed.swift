import PresenceCore

/// The feed: its ring and its readers.
struct Feed {
    var log: FeedLog
    /// In no order; there are a few dozen at most.
    var readers: [FeedReader] = []
    /// When the last reader left; out of date while there are readers.
    var unreadSince: Mono

    init(_ log: FeedLog, at now: Mono) {
        self.log = log
        unreadSince = now
    }

    /// The index in `readers` of the reader on a connection.
    func place(of connection: ConnectionID) -> Int? {
        readers.firstIndex { $0.connection == connection }
    }

    /// Whether there is something that a reader has not been sent.
    func hasMore(forReader place: Int) -> Bool {
        readers[place].seq != log.head || !readers[place].cursor.isComplete
    }
}

/// A feed reader: a position in the ring.
struct FeedReader {
    let connection: ConnectionID
    /// It has been sent everything up to here, as far as its cursor covers it.
    var seq: UInt64
    /// How far its snapshot has come.
    var cursor = ListCursor.complete
    /// Whether its connection has written everything: it is sent the next share when there is one.
    var isReady = false
}
