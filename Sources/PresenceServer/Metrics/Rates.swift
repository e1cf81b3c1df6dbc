import PresenceCore

/// Counters whose growth `top` shows.
struct RateSums {
    var events = 0
    var deliveries = 0
    var logins = 0
    var requests = 0
    var commits = 0
    var rows = 0
}

/// Samples of counters in the last minute: one per second, while anything happens.
struct Rates {
    /// One minute, and one sample before it.
    private static let samplesMax = 62
    private static let intervalMilliseconds: UInt64 = 1_000

    struct Sample {
        var time: Mono
        var sums: RateSums
    }

    private var samples: [Sample]
    /// When the next sample is due, if anything happens then.
    private var due: Mono

    init(begun: Mono) {
        samples = [Sample(time: begun, sums: RateSums())]
        due = begun.advanced(byMilliseconds: Self.intervalMilliseconds)
    }

    func isDue(at now: Mono) -> Bool { due <= now }

    mutating func note(_ sums: RateSums, at now: Mono) {
        if samples.count == Self.samplesMax { samples.removeFirst() }
        samples.append(Sample(time: now, sums: sums))
        due = now.advanced(byMilliseconds: Self.intervalMilliseconds)
    }

    /// The counters `age` milliseconds ago, or at startup if that is later.
    ///
    /// The last sample before that point counts as taken at it: between two samples that are far
    /// apart nothing has happened, except in at most one second.
    func sample(before now: Mono, byMilliseconds age: UInt64) -> Sample {
        let point = Mono(milliseconds: now.milliseconds - min(age, now.milliseconds))
        guard var sample = samples.last(where: { $0.time <= point }) ?? samples.first else {
            return Sample(time: now, sums: RateSums())
        }
        sample.time = max(sample.time, min(point, now))
        return sample
    }
}
