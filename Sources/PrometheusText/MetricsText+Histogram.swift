public import Containers

extension MetricsText {
    /// A histogram. Its bucket bounds are in seconds, and its buckets are cumulative.
    public mutating func add(
        histogram name: StaticString, _ help: StaticString, _ histogram: DurationHistogram
    ) {
        begin(.histogram, name, help)
        let bounds = DurationHistogram.boundsMicroseconds
        var sum: UInt64 = 0
        for (place, count) in histogram.counts.enumerated() {
            sum += count
            let bound = place < bounds.count ? Self.seconds(bounds[place]) : "+Inf"
            sample("_bucket", [Label("le", bound)], String(sum))
        }
        sample("_sum", [], Self.seconds(histogram.sumMicroseconds))
        sample("_count", [], String(sum))
    }
}
