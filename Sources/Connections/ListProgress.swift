/// What a connection is sent piece by piece: its login list, the states of what it has missed, or
/// the feed. The next piece is asked for when everything has been written.
public struct ListProgress {
    /// The feed is read by app servers, everything else by clients.
    private var source = Source.engine(isListing: false, .none)
    /// Whether it has asked, and waits for what follows.
    public private(set) var hasAsked = false

    private enum Source {
        /// The login list, and what follows an event that it did not take.
        case engine(isListing: Bool, Missed)
        case feed
    }

    /// What a client has missed.
    private enum Missed: UInt8 {
        /// Nothing: it takes events.
        case none
        /// Events before it last asked. It takes none until it has been sent their states.
        case before
        /// Also events since then: it has to ask again.
        case since
    }

    /// Whether the login list is not complete.
    public var isListing: Bool {
        if case .engine(true, _) = source { true } else { false }
    }

    /// Whether it has not taken an event; until its states have followed, it takes none.
    public var isConflated: Bool {
        switch source {
        case .engine(_, .before), .engine(_, .since): true
        case .engine(_, .none), .feed: false
        }
    }

    /// Whether it reads the feed.
    public var isFeedReader: Bool {
        if case .feed = source { true } else { false }
    }

    /// Whether there is a piece to ask for.
    public var canAsk: Bool { !hasAsked && (isListing || isConflated || isFeedReader) }

    /// Begins a login list.
    public mutating func beginList() { setListing(true) }

    /// The login list is complete.
    public mutating func listEnded() {
        setListing(false)
        hasAsked = false
    }

    /// Begins to read the feed.
    public mutating func beginFeed() {
        precondition(!isListing && !isConflated, "a client that reads the feed")
        source = .feed
    }

    /// Notes that it has not taken an event.
    public mutating func missEvent() {
        guard case .engine(let isListing, _) = source else {
            preconditionFailure("an event for a reader of the feed")
        }
        source = .engine(isListing: isListing, .since)
    }

    /// Asks for the next piece.
    public mutating func ask() {
        hasAsked = true
        if case .engine(let isListing, .since) = source {
            source = .engine(isListing: isListing, .before)
        }
    }

    /// It has been sent a piece.
    public mutating func pieceArrived() { hasAsked = false }

    /// It has been sent the states of all that it had missed when it asked.
    public mutating func caughtUp() {
        hasAsked = false
        if case .engine(let isListing, .before) = source {
            source = .engine(isListing: isListing, .none)
        }
    }

    private mutating func setListing(_ isListing: Bool) {
        guard case .engine(_, let missed) = source else { return }
        source = .engine(isListing: isListing, missed)
    }
}
