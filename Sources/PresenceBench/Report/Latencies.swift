import Histogram

/// How long things took, in nanoseconds, with three digits kept.
struct Latencies {
    private(set) var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)

    /// So many values without growing: about 35 minutes.
    static let nanosecondsMax: UInt64 = 1 << 41

    init() {
        histogram = Histogram<UInt64>(
            lowestDiscernibleValue: 100, highestTrackableValue: Self.nanosecondsMax,
            numberOfSignificantValueDigits: .three)
    }

    var count: UInt64 { histogram.totalCount }

    @inline(__always)
    mutating func record(from begin: UInt64, to end: UInt64) {
        _ = histogram.record(min(end &- min(begin, end), Self.nanosecondsMax - 1))
    }

    mutating func reset() { histogram.reset() }

    /// Milliseconds below which so many of a hundred are.
    func milliseconds(percentile: Double) -> Double {
        count == 0 ? 0 : Double(histogram.valueAtPercentile(percentile)) / 1e6
    }

    var maxMilliseconds: Double { count == 0 ? 0 : Double(histogram.max) / 1e6 }
}
