import Containers
import Testing

@Suite struct DurationHistogramTests {
    @Test func `a duration falls into the first bucket that reaches to it`() {
        for (place, bound) in DurationHistogram.boundsMicroseconds.enumerated() {
            for (microseconds, expected) in [(bound, place), (bound + 1, place + 1)] {
                var histogram = DurationHistogram()
                histogram.observe(microseconds: microseconds)
                #expect(histogram.counts.firstIndex(of: 1) == expected)
                #expect(histogram.sumMicroseconds == microseconds)
                #expect(histogram.count == 1)
            }
        }
    }

    @Test func `the bounds rise, and the last bucket has none`() {
        let bounds = DurationHistogram.boundsMicroseconds
        #expect(bounds == bounds.sorted())
        #expect(Set(bounds).count == bounds.count)
        var histogram = DurationHistogram()
        histogram.observe(microseconds: .max)
        #expect(histogram.counts.last == 1)
    }

    @Test func `adding two is observing what both have observed`() {
        let durations: [UInt64] = [0, 10, 11, 70_000, 10_000_000, 10_000_001]
        var all = DurationHistogram()
        var parts = [DurationHistogram(), DurationHistogram()]
        for (place, microseconds) in durations.enumerated() {
            all.observe(microseconds: microseconds)
            parts[place % 2].observe(microseconds: microseconds)
        }
        parts[0] += parts[1]
        #expect(parts[0] == all)
        parts[0] += DurationHistogram()
        #expect(parts[0] == all)
    }
}
