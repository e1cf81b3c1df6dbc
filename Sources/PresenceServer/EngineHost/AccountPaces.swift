import PresenceCore

/// Rate limits by account that are not the engine's: it may not know the account.
struct AccountPaces {
    /// Of accounts that are above the rate of the limit, and of a few others.
    private var buckets: [[UInt8]: TokenBucket] = [:]

    /// Of requests to see an account: strangers must not flood it by asking and withdrawing. With
    /// at most 5 KB each, 10 KB a second.
    static let ofRequests = Pace(perSecond: 2, burst: 100)
    /// Buckets that are kept before full ones are removed.
    private static let countMax = 1_024
    /// What is taken in advance is owed for so long at most.
    private static let debtMillisecondsMax: UInt64 = 60_000

    /// Takes a token of an account and returns nil; or returns the wait in milliseconds. O(1) on
    /// average.
    mutating func take(for account: [UInt8], _ pace: Pace, at now: Mono) -> UInt64? {
        makeRoom(for: account, at: now)
        return buckets[account, default: TokenBucket()].take(pace, at: now)
    }

    /// Takes a token of an account, in advance if there is none. O(1) on average.
    mutating func charge(_ account: [UInt8], _ pace: Pace, at now: Mono) {
        makeRoom(for: account, at: now)
        _ = buckets[account, default: TokenBucket()].charge(
            pace, at: now, waitMillisecondsMax: Self.debtMillisecondsMax)
    }

    /// The milliseconds until an account has a token; nil: it has one.
    func wait(of account: [UInt8], _ pace: Pace, at now: Mono) -> UInt64? {
        buckets[account]?.wait(pace, at: now)
    }

    /// If none is full, all are reset: what is counted has a pace by its sender, too.
    private mutating func makeRoom(for account: [UInt8], at now: Mono) {
        guard buckets.count >= Self.countMax, buckets[account] == nil else { return }
        buckets = buckets.filter { !$0.value.isFull(at: now) }
        if buckets.count >= Self.countMax { buckets = [:] }
    }
}
