/// The changes that wait for the store.
///
/// An account has one at a time, so that what is checked when it is requested is still true when it
/// is applied. So has a pair of accounts, for changes of their relationship, and a push address,
/// which may go from one device to another: the other side may make other changes meanwhile. Only
/// accounts with a change in flight use memory here. Everything is O(1).
struct ChangesInFlight {
    /// By the number of the ticket. The change that is being applied is no longer here.
    private var changes: [UInt64: PendingChange] = [:]
    /// The numbers of the tickets by account, until the change is applied or has failed.
    private var numbers: [UInt32: UInt64] = [:]
    /// The accounts whose changes in flight are about a pair, by the pair.
    private var pairs: [UInt64: AccountHandle] = [:]
    /// The accounts whose changes in flight are about push addresses, by where those lead.
    private var endpoints: [[UInt8]: AccountHandle] = [:]
    /// The number of the last ticket that was drawn.
    private(set) var lastNumber: UInt64 = 0

    /// How many changes wait.
    var count: Int { changes.count }

    /// Adds the change of an account that has none in flight. Returns its ticket.
    mutating func add(_ change: PendingChange) -> Ticket {
        let ticket = nextTicket()
        changes[ticket.number] = change
        let earlier = numbers.updateValue(lastNumber, forKey: change.account.index)
        precondition(earlier == nil, "two changes of an account in flight")
        for endpoint in change.endpoints {
            let other = endpoints.updateValue(change.account, forKey: endpoint)
            precondition(other == nil, "two changes of a push address in flight")
        }
        if let contact = change.change.contact {
            let other = pairs.updateValue(change.account, forKey: pair(change.account, contact))
            precondition(other == nil, "two changes of a pair in flight")
        }
        return ticket
    }

    /// A new ticket; for what is not a change of an account, too.
    mutating func nextTicket() -> Ticket {
        lastNumber += 1
        return Ticket(number: lastNumber)
    }

    /// Takes out the change whose outcome is known. Its account stays busy until `end`.
    mutating func take(_ ticket: Ticket) -> PendingChange? {
        changes.removeValue(forKey: ticket.number)
    }

    /// Ends a change: its account may have the next.
    mutating func end(_ change: PendingChange) {
        numbers[change.account.index] = nil
        for endpoint in change.endpoints { endpoints[endpoint] = nil }
        guard let contact = change.change.contact else { return }
        pairs[pair(change.account, contact)] = nil
    }

    /// The account for whose change one of `account` has to wait; nil if it has not. `contact` is
    /// the other account of the pair that it is about, if it is about one; `endpoints` are those
    /// that it needs.
    func blocking(
        _ account: AccountHandle, _ contact: AccountHandle?, _ endpoints: [[UInt8]]
    ) -> AccountHandle? {
        if isBusy(account) { return account }
        for endpoint in endpoints {
            if let other = self.endpoints[endpoint] { return other }
        }
        return contact.flatMap { pairs[pair(account, $0)] }
    }

    private func pair(_ account: AccountHandle, _ contact: AccountHandle) -> UInt64 {
        UInt64(min(account.index, contact.index)) << 32 | UInt64(max(account.index, contact.index))
    }

    /// Whether a change of the account waits, or is being applied.
    func isBusy(_ account: AccountHandle) -> Bool {
        numbers[account.index] != nil
    }

    /// The change of an account that waits for the store; nil while it is being applied.
    func change(of account: AccountHandle) -> PendingChange? {
        numbers[account.index].flatMap { changes[$0] }
    }

    /// The accounts that the changes hold. O(changes); for tests.
    var held: [HeldAccounts] { changes.values.map(\.accounts) }

    /// Has a removal stored if the change of the account fails.
    mutating func add(removalOnFailure removal: Record, of account: AccountHandle) {
        guard let number = numbers[account.index] else { return }
        changes[number]?.removalsOnFailure.append(removal)
    }

    /// Notes that the change of the account has places reserved with more publishers.
    mutating func add(reserved publishers: [AccountHandle], of account: AccountHandle) {
        guard let number = numbers[account.index] else { return }
        changes[number]?.reserved.append(contentsOf: publishers)
    }
}
