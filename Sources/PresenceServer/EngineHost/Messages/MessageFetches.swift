import PresenceCore

/// Reads of the contents of messages, of which a few are in progress at a time.
///
/// A session has one at a time, of at most its window: so what is read and not yet in an outbox is
/// bounded, however many sessions begin at once.
struct MessageFetches {
    /// Reads in progress.
    static let inProgressMax = 64

    /// What is to be read for a connection.
    struct Fetch: Equatable {
        let connection: ConnectionID
        let messages: [MessageID]
    }

    private var waiting: [ConnectionID: [MessageID]] = [:]
    /// The order in which they came, from `first` on. Those that wait no more are left in it for a
    /// while.
    private var order: [ConnectionID] = []
    private var first = 0
    private var inProgressCount = 0

    /// How many wait or are in progress.
    var count: Int { waiting.count + inProgressCount }

    /// The connections that are remembered, for tests of what they can cost.
    var orderCount: Int { order.count }

    mutating func add(_ fetch: Fetch) {
        precondition(waiting[fetch.connection] == nil, "two reads for a session")
        waiting[fetch.connection] = fetch.messages
        order.append(fetch.connection)
        compact()
    }

    /// A connection has ended: nothing is read for it any more. While the disk is slow, clients
    /// could otherwise have reads pile up by connecting again and again.
    mutating func remove(_ connection: ConnectionID) { waiting[connection] = nil }

    /// The next read to begin; nil: none waits, or enough are in progress.
    mutating func next() -> Fetch? {
        guard inProgressCount < Self.inProgressMax else { return nil }
        while first < order.count {
            let connection = order[first]
            first += 1
            guard let messages = waiting.removeValue(forKey: connection) else { continue }
            inProgressCount += 1
            compact()
            return Fetch(connection: connection, messages: messages)
        }
        compact()
        return nil
    }

    /// A read has ended.
    mutating func end() {
        precondition(inProgressCount > 0, "the answer to no read of messages")
        inProgressCount -= 1
    }

    /// Moving the rest costs no more than what was taken, or has ended.
    private mutating func compact() {
        guard order.count > 2 * waiting.count + 64 || first == order.count else { return }
        order = order[first...].filter { waiting[$0] != nil }
        first = 0
    }
}
