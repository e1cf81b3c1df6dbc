import PresenceCore

/// Reads of the contents of messages, of which a few are in progress at a time.
///
/// A session has one at a time, of at most its window: so what is read and not yet in an outbox is
/// bounded, however many sessions begin at once.
struct MessageFetches {
    /// Reads in progress.
    static let inProgressMax = 64

    /// What is to be read for a connection.
    struct Fetch {
        let connection: ConnectionID
        let messages: [MessageID]
    }

    /// Those that wait, from `first` on.
    private var waiting: [Fetch] = []
    private var first = 0
    private var inProgressCount = 0

    /// How many wait or are in progress.
    var count: Int { waiting.count - first + inProgressCount }

    mutating func add(_ fetch: Fetch) { waiting.append(fetch) }

    /// The next read to begin; nil: none waits, or enough are in progress.
    mutating func next() -> Fetch? {
        guard first < waiting.count, inProgressCount < Self.inProgressMax else { return nil }
        let fetch = waiting[first]
        first += 1
        // Moving the rest costs no more than what was taken.
        if first * 2 >= waiting.count {
            waiting.removeFirst(first)
            first = 0
        }
        inProgressCount += 1
        return fetch
    }

    /// A read has ended.
    mutating func end() {
        precondition(inProgressCount > 0, "the answer to no read of messages")
        inProgressCount -= 1
    }
}
