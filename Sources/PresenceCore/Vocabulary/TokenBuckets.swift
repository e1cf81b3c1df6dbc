import Containers

/// Token buckets by key, of a bounded number.
public struct TokenBuckets<Key: Hashable> {
    private var table: BucketTable<Key, TokenBucket>

    /// Full buckets for all keys, of which at most `countMax` (at least 1,024) that are not full
    /// are kept.
    public init(countMax: Int = 1_024) {
        table = BucketTable(countMax: countMax)
    }

    /// Takes a token of a key and returns nil; or returns the wait in milliseconds. O(1) on
    /// average.
    public mutating func take(for key: Key, _ pace: Pace, at now: Mono) -> UInt64? {
        table.update(key, at: now) { $0.take(pace, at: now) }
    }

    /// Takes a token of a key, in advance if there is none. O(1) on average.
    public mutating func charge(
        _ key: Key, _ pace: Pace, at now: Mono, waitMillisecondsMax: UInt64
    ) {
        table.update(key, at: now) {
            _ = $0.charge(pace, at: now, waitMillisecondsMax: waitMillisecondsMax)
        }
    }

    /// The milliseconds until a key has a token; nil: it has one.
    public func wait(of key: Key, _ pace: Pace, at now: Mono) -> UInt64? {
        table.buckets[key]?.wait(pace, at: now)
    }

    /// How many are kept.
    var count: Int { table.buckets.count }
}

/// What refills with time.
protocol RefillingBucket {
    /// A full one.
    init()
    /// When it is full again.
    var fullAtMicroseconds: UInt64 { get }
}

/// Buckets by key, of a bounded number.
struct BucketTable<Key: Hashable, Bucket: RefillingBucket> {
    /// Of keys that are above the rate of the limit, and of others whose buckets may be full.
    private(set) var buckets: [Key: Bucket] = [:]
    /// How many there are before full ones are removed.
    private var sweepCount = Self.sweepCountMin
    private let countMax: Int

    private static var sweepCountMin: Int { 1_024 }

    init(countMax: Int) {
        self.countMax = max(Self.sweepCountMin, countMax)
    }

    /// Changes the bucket of a key in place. O(1) on average.
    mutating func update<Result>(
        _ key: Key, at now: Mono, _ body: (inout Bucket) -> Result
    ) -> Result {
        makeRoom(for: key, at: now)
        return body(&buckets[key, default: Bucket()])
    }

    mutating func remove(_ key: Key) {
        if !buckets.isEmpty { buckets[key] = nil }
    }

    /// If too many are not full, the quarter that lacks the least is forgotten: many keys that are
    /// used once do not reset one that is above its limit.
    private mutating func makeRoom(for key: Key, at now: Mono) {
        guard buckets.count >= sweepCount, buckets[key] == nil else { return }
        let microseconds = now.microseconds
        buckets = buckets.filter { $0.value.fullAtMicroseconds > microseconds }
        if buckets.count >= countMax { forgetFullest() }
        sweepCount = min(countMax, max(Self.sweepCountMin, 2 * buckets.count))
    }

    private mutating func forgetFullest() {
        let times = buckets.values.map(\.fullAtMicroseconds).sorted()
        let count = times.count / 4
        let bound = times[count]
        // Of those that are full at the bound, only as many as belong to the quarter.
        var ofBound = count - times.partitionPoint { $0 < bound }
        buckets = buckets.filter { _, bucket in
            guard bucket.fullAtMicroseconds == bound, ofBound > 0 else {
                return bucket.fullAtMicroseconds >= bound
            }
            ofBound -= 1
            return false
        }
    }
}
