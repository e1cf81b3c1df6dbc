/// The time to wait after a failure: random, between 0 and a bound that doubles with each failure
/// ("full jitter"), so that endpoints that failed at the same time do not retry at the same time.
public struct Backoff: Sendable {
    /// The longest time that a receiver can ask for, in seconds.
    static let retryAfterSecondsMax = 3_600

    private let millisecondsMin: Int
    private let millisecondsMax: Int
    /// Failures since the last success.
    public private(set) var failures = 0

    /// Without failures. The first wait is of at most `millisecondsMin`.
    public init(millisecondsMin: Int = 1_000, millisecondsMax: Int) {
        self.millisecondsMin = millisecondsMin
        self.millisecondsMax = millisecondsMax
    }

    /// There are no failures any longer.
    public mutating func succeed() { failures = 0 }

    /// The milliseconds to wait after one more failure; at least what the receiver asked for.
    public mutating func fail(
        retryAfterSeconds: Int? = nil, _ random: inout some RandomNumberGenerator
    ) -> Int {
        let doublings = min(failures, 30)
        failures += 1
        let bound = min(millisecondsMax, millisecondsMin << doublings)
        let wait = Int.random(in: 0...max(0, bound), using: &random)
        let asked = min(max(0, retryAfterSeconds ?? 0), Self.retryAfterSecondsMax) * 1_000
        // Endpoints that were given the same time do not retry at the same time either.
        return asked == 0 ? wait : asked + wait
    }
}
