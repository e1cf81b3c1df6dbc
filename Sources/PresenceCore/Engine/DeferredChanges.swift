/// A change that waits for an earlier one of its account, or of the pair or a push address that it
/// is about.
struct DeferredChange {
    var connection: ConnectionID
    let accounts: HeldAccounts
    var change: Change
}

/// The changes that wait for an earlier one, in order for each account that has made one.
///
/// Only accounts with a deferred change use memory here.
struct DeferredChanges {
    /// By the account whose change they wait for: their own, or the other one of a pair.
    private var queues: [UInt32: [DeferredChange]] = [:]
    /// The queues in which changes of callers in process wait: the engine keeps nothing else about
    /// these callers. Each has one request at a time.
    private var accountsInProcess: [ConnectionID: UInt32] = [:]

    /// How many changes wait. O(accounts).
    var count: Int { queues.values.reduce(0) { $0 + $1.count } }

    /// The accounts that the changes hold. O(changes); for tests.
    var held: [HeldAccounts] { queues.values.joined().map(\.accounts) }

    /// Adds a change behind those that wait for this account already.
    mutating func append(_ change: DeferredChange, behind account: AccountHandle) {
        queues[account.index, default: []].append(change)
        guard change.connection.isInProcess else { return }
        let earlier = accountsInProcess.updateValue(account.index, forKey: change.connection)
        precondition(earlier == nil, "two requests of a caller in process")
    }

    /// Takes out the change that has waited longest for one of an account.
    mutating func popFirst(of account: AccountHandle) -> DeferredChange? {
        remove(at: 0, of: account.index)
    }

    /// Takes out the change that a caller in process no longer waits for.
    /// O(changes of its account).
    mutating func remove(awaitedInProcessBy connection: ConnectionID) -> DeferredChange? {
        guard let account = accountsInProcess[connection],
            let place = queues[account]?.firstIndex(where: { $0.connection == connection })
        else { return nil }
        return remove(at: place, of: account)
    }

    private mutating func remove(at place: Int, of account: UInt32) -> DeferredChange? {
        guard var queue = queues.removeValue(forKey: account) else { return nil }
        let change = queue.remove(at: place)
        if !queue.isEmpty { queues[account] = queue }
        accountsInProcess[change.connection] = nil
        return change
    }
}
