import PresenceCore

/// Samples of counters in the last minute: one per second, while anything happens.
struct Rates {
    /// One minute, and one sample before it.
    private static let samplesMax = 62
    private static let intervalMilliseconds: UInt64 = 1_000

    struct Sample {
        var time: Mono
        /// The counters whose growth `top` shows, as `MetricTable.counts` has them.
        var counts: [Int]
    }

    private var samples: [Sample]
    /// When the next sample is due, if anything happens then.
    private var due: Mono

    init(begun: Mono) {
        samples = [Sample(time: begun, counts: MetricTable.counts(Measurements()))]
        due = begun.advanced(byMilliseconds: Self.intervalMilliseconds)
    }

    func isDue(at now: Mono) -> Bool { due <= now }

    /// Notes that a sample is being taken: another one is due after it.
    mutating func begin() { due = Mono(milliseconds: .max) }

    mutating func note(_ counts: [Int], at now: Mono) {
        if samples.count == Self.samplesMax { samples.removeFirst() }
        samples.append(Sample(time: now, counts: counts))
        due = now.advanced(byMilliseconds: Self.intervalMilliseconds)
    }

    /// The counters `age` milliseconds ago, or at startup if that is later.
    ///
    /// The last sample before that point counts as taken at it: between two samples that are far
    /// apart nothing has happened, except in at most one second.
    func sample(before now: Mono, byMilliseconds age: UInt64) -> Sample {
        let point = Mono(milliseconds: now.milliseconds - min(age, now.milliseconds))
        // There is always a sample: `note` adds one whenever it removes one.
        var sample = samples.last { $0.time <= point } ?? samples[0]
        sample.time = max(sample.time, min(point, now))
        return sample
    }
}
