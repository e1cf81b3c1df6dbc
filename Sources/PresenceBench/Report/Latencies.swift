import Histogram

/// Durations in nanoseconds, to three digits.
struct Latencies {
    private(set) var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)

    /// The longest duration, about 35 minutes: the histogram has a fixed size.
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

    /// A percentile, in milliseconds.
    func milliseconds(percentile: Double) -> Double {
        count == 0 ? 0 : Double(histogram.valueAtPercentile(percentile)) / 1e6
    }

    var maxMilliseconds: Double { count == 0 ? 0 : Double(histogram.max) / 1e6 }
}
