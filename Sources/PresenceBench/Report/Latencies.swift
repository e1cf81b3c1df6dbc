/// Durations in nanoseconds. A percentile is off by 0.1 % at most; the maximum is exact.
///
/// Each power of two from 1,024 on has 512 buckets of the same width.
struct Latencies {
    private var counts = Array(repeating: UInt64(0), count: bucketOf(nanosecondsMax - 1) + 1)
    private(set) var count: UInt64 = 0
    private var longest: UInt64 = 0

    /// The longest duration, about 35 minutes.
    static let nanosecondsMax: UInt64 = 1 << 41

    /// A duration has this many bits of its own in a bucket.
    private static let bits = 10

    @inline(__always)
    mutating func record(from begin: UInt64, to end: UInt64) {
        let duration = min(end &- min(begin, end), Self.nanosecondsMax - 1)
        counts[Self.bucketOf(duration)] += 1
        count += 1
        longest = max(longest, duration)
    }

    mutating func reset() { self = Latencies() }

    /// A percentile, in milliseconds; 0 if there is no duration.
    func milliseconds(percentile: Double) -> Double {
        // At least one.
        let rank = max(1, UInt64((Double(count) * percentile / 100).rounded(.up)))
        var seen: UInt64 = 0
        for (bucket, durations) in counts.enumerated() {
            seen += durations
            if seen >= rank { return min(Self.middle(of: bucket), Double(longest)) / 1e6 }
        }
        return 0
    }

    var maxMilliseconds: Double { Double(longest) / 1e6 }

    @inline(__always)
    private static func bucketOf(_ duration: UInt64) -> Int {
        let shift = max(0, UInt64.bitWidth - duration.leadingZeroBitCount - bits)
        return shift << (bits - 1) + Int(duration >> UInt64(shift))
    }

    private static func middle(of bucket: Int) -> Double {
        let half = 1 << (bits - 1)
        guard bucket >= 2 * half else { return Double(bucket) }
        let shift = bucket / half - 1
        return (Double(bucket - shift * half) + 0.5) * Double(1 << shift)
    }
}
