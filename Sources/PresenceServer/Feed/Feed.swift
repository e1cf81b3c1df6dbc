import PresenceCore

/// The feed: its ring and its readers.
struct Feed {
    var log: FeedLog
    /// In no order; there are a few dozen at most.
    var readers: [FeedReader] = []
    /// When the last reader left; out of date while there are readers.
    var unreadSince: Mono
    /// The newest event that readers have been woken for.
    var wokenFor: UInt64

    init(_ log: FeedLog, at now: Mono) {
        self.log = log
        unreadSince = now
        wokenFor = log.head
    }

    /// The index in `readers` of the reader on a connection.
    func place(of slot: Int) -> Int? { readers.firstIndex { $0.slot == slot } }
}

/// A feed reader: a position in the ring.
struct FeedReader {
    /// The slot of its connection.
    let slot: Int
    /// It has been sent everything up to here, as far as it is listed.
    var seq: UInt64
    /// How far its snapshot has come.
    var cursor = ListCursor.complete
}
