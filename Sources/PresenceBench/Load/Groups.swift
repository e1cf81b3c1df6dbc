/// Accounts in groups, each subscribed to all others of its group.
struct Groups {
    let accounts: Int
    let size: Int

    /// The number of groups; the last may be smaller.
    var count: Int { (accounts + size - 1) / size }

    /// The group of an account.
    func group(of account: Int) -> Range<Int> {
        let start = account / size * size
        return start..<Swift.min(start + size, accounts)
    }

    /// Whether an account is the last of its group: what it receives is parsed and checked where
    /// the bytes of the others are only counted. It subscribed last and is written to last, so that
    /// most of the others have what it has.
    func isLast(_ account: Int) -> Bool { account == group(of: account).upperBound - 1 }

    /// The others of an account's group, at most a request's 100 at a time.
    func others(of account: Int, chunk: Int) -> some Sequence<Int> {
        group(of: account).lazy.filter { $0 != account }.dropFirst(chunk * 100).prefix(100)
    }

    func subscribers(of account: Int) -> Int { group(of: account).count - 1 }

    /// Requests with which an account subscribes to the others.
    func requests(of account: Int) -> Int { (subscribers(of: account) + 99) / 100 }

    /// The number of all subscriptions.
    var subscriptions: Int {
        (0..<count).reduce(0) { sum, number in
            let members = group(of: number * size).count
            return sum + members * (members - 1)
        }
    }
}
