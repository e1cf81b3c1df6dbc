import Foundation
import Testing

@testable import PresenceBench

@Suite struct LatenciesTests {
    @Test func `percentiles are off by a thousandth at most`() {
        var latencies = Latencies()
        // Powers of two and their neighbours, and what lies between, up to half an hour.
        var durations = (0..<41).flatMap { bit in
            let power = UInt64(1) << UInt64(bit)
            return [power - 1, power, power + power / 3, power + power / 2, power * 2 - 1]
        }
        for duration in durations { latencies.record(from: 7, to: 7 + duration) }
        durations.sort()
        for (place, duration) in durations.enumerated() {
            // In the middle between two ranks, so that rounding chooses none of its neighbours.
            let percentile = (Double(place) + 0.5) / Double(durations.count) * 100
            let found = latencies.milliseconds(percentile: percentile) * 1e6
            #expect(abs(found - Double(duration)) <= Double(duration) / 1_000, "\(duration)")
        }
        #expect(latencies.maxMilliseconds == Double(durations[durations.count - 1]) / 1e6)
    }

    @Test func `what is too long counts as the longest, and an end before the begin as 0`() {
        var latencies = Latencies()
        latencies.record(from: 0, to: .max)
        #expect(latencies.maxMilliseconds == Double(Latencies.nanosecondsMax - 1) / 1e6)
        latencies.reset()
        #expect(latencies.milliseconds(percentile: 50) == 0)
        latencies.record(from: 9, to: 3)
        #expect(latencies.count == 1 && latencies.maxMilliseconds == 0)
    }
}
