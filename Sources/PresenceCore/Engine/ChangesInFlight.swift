/// The changes that wait for the store.
///
/// An account has one at a time, so that what is checked when it is requested is still true when it
/// is applied. Only accounts with a change in flight use memory here. Everything is O(1).
struct ChangesInFlight {
    /// By the number of the ticket. The change that is being applied is no longer here.
    private var changes: [UInt64: PendingChange] = [:]
    /// The numbers of the tickets by account, until the change is applied or has failed.
    private var numbers: [UInt32: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    /// How many changes wait.
    var count: Int { changes.count }

    /// Adds the change of an account that has none in flight. Returns its ticket.
    mutating func add(_ change: PendingChange) -> Ticket {
        lastNumber += 1
        changes[lastNumber] = change
        let earlier = numbers.updateValue(lastNumber, forKey: change.account.index)
        precondition(earlier == nil, "two changes of an account in flight")
        return Ticket(number: lastNumber)
    }

    /// Takes out the change whose outcome is known. Its account stays busy until `end`.
    mutating func take(_ ticket: Ticket) -> PendingChange? {
        changes.removeValue(forKey: ticket.number)
    }

    /// Ends the change of an account: it may have the next.
    mutating func end(of account: AccountHandle) {
        numbers[account.index] = nil
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
