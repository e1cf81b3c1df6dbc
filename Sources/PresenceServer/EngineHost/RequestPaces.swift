import PresenceCore

/// The rate limits of requests to see an account, by the account that is asked: strangers must not
/// flood it by asking and withdrawing.
struct RequestPaces {
    /// Of accounts that are asked more often than the limit replenishes, and of a few others.
    private var buckets: [[UInt8]: TokenBucket] = [:]

    /// With at most 5 KB each, 10 KB a second.
    static let pace = Pace(perSecond: 2, burst: 100)
    /// Buckets that are kept before full ones are removed.
    private static let countMax = 1_024

    /// Takes a token for one more request to an account and returns nil; or returns the wait in
    /// milliseconds. O(1) on average.
    mutating func take(for account: [UInt8], at now: Mono) -> UInt64? {
        if buckets.count >= Self.countMax, buckets[account] == nil { removeFull(at: now) }
        return buckets[account, default: TokenBucket()].take(Self.pace, at: now)
    }

    /// If none is full, all begin anew: requests have a pace by their sender, too.
    private mutating func removeFull(at now: Mono) {
        buckets = buckets.filter { !$0.value.isFull(at: now) }
        if buckets.count >= Self.countMax { buckets = [:] }
    }
}
