import PresenceCore

/// Rate limits by account that are not the engine's: it may not know the account.
struct AccountPaces {
    private var buckets = TokenBuckets<[UInt8]>()

    /// Of requests to see an account: strangers must not flood it by asking and withdrawing. With
    /// at most 5 KB each, 10 KB a second.
    static let ofRequests = Pace(perSecond: 2, burst: 100)
    /// What is taken in advance is owed for so long at most.
    private static let debtMillisecondsMax: UInt64 = 60_000

    /// Takes a token of an account and returns nil; or returns the wait in milliseconds. O(1) on
    /// average.
    mutating func take(for account: [UInt8], _ pace: Pace, at now: Mono) -> UInt64? {
        buckets.take(for: account, pace, at: now)
    }

    /// Takes a token of an account, in advance if there is none. O(1) on average.
    mutating func charge(_ account: [UInt8], _ pace: Pace, at now: Mono) {
        buckets.charge(account, pace, at: now, waitMillisecondsMax: Self.debtMillisecondsMax)
    }

    /// The milliseconds until an account has a token; nil: it has one.
    func wait(of account: [UInt8], _ pace: Pace, at now: Mono) -> UInt64? {
        buckets.wait(of: account, pace, at: now)
    }
}
