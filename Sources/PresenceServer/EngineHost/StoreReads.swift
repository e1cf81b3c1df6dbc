import Containers
import PresenceCore

/// Reads of the store for clients, of which a few are in progress at a time.
///
/// A connection has one at a time, of a bounded size: so what is read and not yet in an outbox is
/// bounded, however many connections ask at once.
struct StoreReads<Question> {
    /// Reads in progress.
    static var inProgressMax: Int { 64 }

    private var waiting: [ConnectionID: Question] = [:]
    /// The order in which they came. Those that wait no more are left in it for a while.
    private(set) var order = Queue<ConnectionID>()
    private var inProgressCount = 0

    /// How many wait or are in progress.
    var count: Int { waiting.count + inProgressCount }

    /// Has something read for a connection as soon as there is room for it.
    mutating func add(_ question: Question, for connection: ConnectionID) {
        precondition(waiting[connection] == nil, "two reads for a connection")
        waiting[connection] = question
        order.append(connection)
        // Moving the rest costs no more than what has ended.
        guard order.waiting.count > 2 * waiting.count + 64 else { return }
        order = Queue(order.waiting.filter { waiting[$0] != nil })
    }

    /// A connection has ended: nothing is read for it any more. While the disk is slow, clients
    /// could otherwise have reads pile up by connecting again and again.
    mutating func remove(_ connection: ConnectionID) { waiting[connection] = nil }

    /// The next read to begin; nil: none waits, or enough are in progress.
    mutating func next() -> (connection: ConnectionID, question: Question)? {
        guard inProgressCount < Self.inProgressMax else { return nil }
        while let connection = order.popFirst() {
            guard let question = waiting.removeValue(forKey: connection) else { continue }
            inProgressCount += 1
            return (connection, question)
        }
        return nil
    }

    /// A read has ended.
    mutating func end() {
        precondition(inProgressCount > 0, "the answer to no read")
        inProgressCount -= 1
    }
}
