/// A change that waits for an earlier one of its account.
struct DeferredChange {
    var connection: ConnectionID
    let accounts: HeldAccounts
    var change: Change
}

/// The changes that wait for an earlier one of their account, in order for each account.
///
/// Only accounts with a deferred change use memory here.
struct DeferredChanges {
    private var queues: [UInt32: [DeferredChange]] = [:]
    /// The accounts whose changes callers in process wait for: the engine keeps nothing else about
    /// these callers. Each has one request at a time.
    private var accountsInProcess: [ConnectionID: UInt32] = [:]

    /// How many changes wait. O(accounts).
    var count: Int { queues.values.reduce(0) { $0 + $1.count } }

    /// The accounts that the changes hold. O(changes); for tests.
    var held: [HeldAccounts] { queues.values.joined().map(\.accounts) }

    /// Adds the change of an account behind those that wait already.
    mutating func append(_ change: DeferredChange) {
        let account = change.accounts.account.index
        queues[account, default: []].append(change)
        guard change.connection.isInProcess else { return }
        let earlier = accountsInProcess.updateValue(account, forKey: change.connection)
        precondition(earlier == nil, "two requests of a caller in process")
    }

    /// Takes out the change of an account that has waited longest.
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
