import PresenceCore

/// The feed: its ring, and who reads it.
struct Feed {
    var log: FeedLog
    /// By no order; there are a few dozen at most.
    var readers: [FeedReader] = []
    /// When the last reader left; the last that there was where there is one now.
    var unreadSince: Mono
    /// The newest event that readers have been woken for.
    var wokenFor: UInt64

    init(_ log: FeedLog, at now: Mono) {
        self.log = log
        unreadSince = now
        wokenFor = log.head
    }

    /// Where the reader on a connection stands in `readers`.
    func place(of slot: Int) -> Int? { readers.firstIndex { $0.slot == slot } }
}

/// Somebody who reads the feed: a place in it.
struct FeedReader {
    /// Of its connection.
    let slot: Int
    /// It has had everything up to here, as far as it is listed.
    var seq: UInt64
    /// While it is sent the states with which it begins: those of topics before this have been,
    /// and of them it is sent changes, too. Then all.
    var listedBelow = FeedReader.complete

    /// `listedBelow` of a reader that has all states.
    static let complete = UInt32.max

    var isListing: Bool { listedBelow != Self.complete }
}
