import Containers

extension MetricsText {
    /// A histogram. Its bucket bounds are in seconds, and its buckets are cumulative.
    mutating func add(
        histogram name: StaticString, _ help: StaticString, _ histogram: DurationHistogram
    ) {
        begin(.histogram, name, help)
        var sum: UInt64 = 0
        for (place, count) in histogram.counts.enumerated() {
            sum += count
            append(name)
            append("_bucket{le=\"")
            if place < DurationHistogram.boundsMicroseconds.count {
                append(seconds: DurationHistogram.boundsMicroseconds[place])
            } else {
                append("+Inf")
            }
            append("\"} ")
            append(String(sum))
            append("\n")
        }
        append(name)
        append("_sum ")
        append(seconds: histogram.sumMicroseconds)
        append("\n")
        append(name)
        append("_count ")
        append(String(sum))
        append("\n")
    }
}
