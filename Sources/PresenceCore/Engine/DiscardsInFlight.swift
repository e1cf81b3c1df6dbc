/// Messages that were discarded, and whose removal waits for the store.
struct PendingDiscard {
    /// The connection that waits for the response.
    let connection: ConnectionID
    let keys: [WaitingKey]
    let answer: Answer
}

/// The discarded messages whose removal waits for the store. Everything is O(1).
struct DiscardsInFlight {
    /// By the number of the ticket.
    private var discards: [UInt64: PendingDiscard] = [:]

    var count: Int { discards.count }

    mutating func add(_ discard: PendingDiscard, _ ticket: Ticket) {
        let earlier = discards.updateValue(discard, forKey: ticket.number)
        precondition(earlier == nil, "a ticket twice")
    }

    /// Takes out what the ticket is of; nil: it is of something else.
    mutating func take(_ ticket: Ticket) -> PendingDiscard? {
        discards.removeValue(forKey: ticket.number)
    }
}
