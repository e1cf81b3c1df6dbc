/// Token buckets by key, of a bounded number.
public struct TokenBuckets<Key: Hashable> {
    /// Of keys that are above the rate of the limit, and of others whose buckets may be full.
    private var buckets: [Key: TokenBucket] = [:]
    /// How many there are before full ones are removed.
    private var sweepCount = Self.sweepCountMin
    private let countMax: Int

    private static var sweepCountMin: Int { 1_024 }

    /// Full buckets for all keys, of which at most `countMax` (at least 1,024) that are not full
    /// are kept.
    public init(countMax: Int = 1_024) {
        self.countMax = max(Self.sweepCountMin, countMax)
    }

    /// Takes a token of a key and returns nil; or returns the wait in milliseconds. O(1) on
    /// average.
    public mutating func take(for key: Key, _ pace: Pace, at now: Mono) -> UInt64? {
        makeRoom(for: key, at: now)
        return buckets[key, default: TokenBucket()].take(pace, at: now)
    }

    /// Takes a token of a key, in advance if there is none. O(1) on average.
    public mutating func charge(
        _ key: Key, _ pace: Pace, at now: Mono, waitMillisecondsMax: UInt64
    ) {
        makeRoom(for: key, at: now)
        _ = buckets[key, default: TokenBucket()].charge(
            pace, at: now, waitMillisecondsMax: waitMillisecondsMax)
    }

    /// The milliseconds until a key has a token; nil: it has one.
    public func wait(of key: Key, _ pace: Pace, at now: Mono) -> UInt64? {
        buckets[key]?.wait(pace, at: now)
    }

    /// How many are kept.
    var count: Int { buckets.count }

    /// If too many are not full, all are reset: what is counted is also rate-limited by its sender.
    private mutating func makeRoom(for key: Key, at now: Mono) {
        guard buckets.count >= sweepCount, buckets[key] == nil else { return }
        buckets = buckets.filter { !$0.value.isFull(at: now) }
        if buckets.count >= countMax { buckets = [:] }
        sweepCount = min(countMax, max(Self.sweepCountMin, 2 * buckets.count))
    }
}
