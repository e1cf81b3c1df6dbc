/// How long to wait after a failure: anywhere between nothing and a bound that doubles with each
/// ("full jitter"), so that those who have failed at the same time do not come back at the same
/// time.
struct Backoff {
    /// The longest that a receiver can ask for, in seconds.
    static let retryAfterSecondsMax = 3_600

    let millisecondsMin: Int
    let millisecondsMax: Int
    /// Failures since the last success.
    private(set) var failures = 0

    init(millisecondsMin: Int = 1_000, millisecondsMax: Int) {
        self.millisecondsMin = millisecondsMin
        self.millisecondsMax = millisecondsMax
    }

    mutating func succeed() { failures = 0 }

    /// How many milliseconds to wait after one more failure, and no less than was asked for.
    mutating func fail(
        retryAfterSeconds: Int? = nil, _ random: inout some RandomNumberGenerator
    ) -> Int {
        let doublings = min(failures, 30)
        failures += 1
        let bound = min(millisecondsMax, millisecondsMin << doublings)
        let wait = Int.random(in: 0...max(0, bound), using: &random)
        let asked = min(max(0, retryAfterSeconds ?? 0), Self.retryAfterSecondsMax) * 1_000
        // Those who were all told the same do not come back at the same time either.
        return asked == 0 ? wait : asked + wait
    }
}
