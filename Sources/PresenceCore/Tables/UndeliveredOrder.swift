import Containers

/// The messages that were handed over, in the order of their numbers.
///
/// Those that wait no longer stay in it until they are half of it, so that each costs O(1). 24
/// bytes for each.
struct UndeliveredOrder {
    /// A message that was handed over; whether it still waits says the box of its account.
    struct Entry: Equatable {
        let number: UInt64
        let message: MessageID
        let account: UInt32
        /// The place of the recipient among those of the message.
        let place: UInt16

        init(_ handOver: HandOver, of message: WaitingKey, for account: AccountHandle) {
            number = handOver.number
            self.message = message.message
            place = message.place
            self.account = account.index
        }

        var key: WaitingKey { WaitingKey(message: message, place: place) }
    }

    private(set) var entries: [Entry] = []
    /// How many of the entries wait no longer.
    private(set) var goneCount = 0
    /// The highest number that was handed over.
    private(set) var last: UInt64 = 0
    /// Those that wait for the store, by the number of the ticket.
    private var pending: [UInt64: PendingHandOver] = [:]

    /// Adds a message. Numbers come in the order of the commits, which is their own.
    mutating func append(_ entry: Entry) {
        precondition(entry.number > last, "handed over out of order")
        last = entry.number
        entries.append(entry)
    }

    /// Adds what is read at a start, in any order; `endRestore` follows.
    mutating func restore(_ entry: Entry) { entries.append(entry) }

    /// Everything was read.
    mutating func endRestore() {
        entries.sort { $0.number < $1.number }
        last = entries.last?.number ?? 0
    }

    /// Those after a number, in order. O(log n).
    func after(_ number: UInt64) -> ArraySlice<Entry> {
        entries[entries.partitionPoint { $0.number <= number }...]
    }

    /// Notes that messages wait no longer. Returns whether the entries are to be compacted.
    mutating func noteGone(_ count: Int) -> Bool {
        goneCount += count
        return goneCount > 64 && goneCount > entries.count / 2
    }

    /// Keeps only those that still wait. O(n), after as many have left.
    mutating func compact(_ waits: (Entry) -> Bool) {
        entries.removeAll { !waits($0) }
        goneCount = 0
    }

    // MARK: For the store

    mutating func add(_ handOver: PendingHandOver, _ ticket: Ticket) {
        let earlier = pending.updateValue(handOver, forKey: ticket.number)
        precondition(earlier == nil, "a ticket twice")
    }

    /// Takes out what the ticket is of; nil: of something else.
    mutating func take(_ ticket: Ticket) -> PendingHandOver? {
        pending.removeValue(forKey: ticket.number)
    }

    /// Traps unless the order holds and counts those that wait right.
    func checkInvariants(waiting: Int) {
        for (earlier, later) in zip(entries, entries.dropFirst()) {
            precondition(earlier.number < later.number, "order of hand-overs")
        }
        precondition(entries.count - goneCount == waiting, "undelivered miscounted")
        precondition(entries.last.map { $0.number <= last } ?? true, "a hand-over after the last")
    }
}

/// Messages of an account whose hand-over waits for the store.
struct PendingHandOver {
    let account: AccountHandle
    let messages: [(message: WaitingKey, handOver: HandOver)]
}
