/// A histogram of durations: how many fell into each of a fixed row of buckets.
///
/// Takes some 200 bytes, whatever is counted. The buckets reach from 10 µs to 10 s in steps of 1,
/// 2.5 and 5, so that a quantile is off by a factor of 2.5 at most.
public struct DurationHistogram: Hashable, Sendable {
    /// The upper bounds of all buckets except the last, which has the longer durations.
    public static let boundsMicroseconds: [UInt64] = [
        10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000,
        500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
    ]

    /// The count of each bucket; the last has no bound.
    public private(set) var counts: [UInt64]
    /// The sum of all durations.
    public private(set) var sumMicroseconds: UInt64 = 0

    /// An empty histogram.
    public init() {
        counts = Array(repeating: 0, count: Self.boundsMicroseconds.count + 1)
    }

    /// Counts a duration.
    ///
    /// - Complexity: O(1): one comparison for each bucket at most, one or two for what is short.
    public mutating func observe(microseconds: UInt64) {
        var bucket = 0
        while bucket < Self.boundsMicroseconds.count,
            microseconds > Self.boundsMicroseconds[bucket]
        { bucket += 1 }
        counts[bucket] += 1
        sumMicroseconds &+= microseconds
    }

    /// Adds what another histogram has counted.
    public static func += (left: inout DurationHistogram, right: DurationHistogram) {
        for (bucket, count) in right.counts.enumerated() { left.counts[bucket] += count }
        left.sumMicroseconds &+= right.sumMicroseconds
    }

    /// The number of durations.
    public var count: UInt64 { counts.reduce(0, +) }
}
