/// How often something may happen: a rate, and how much of it may come at once.
public struct Pace: Hashable, Sendable {
    /// How many a second in the long run.
    public var perSecond: Int
    /// How many at once, after a pause.
    public var burst: Int

    /// A pace of at least one a second and one at once.
    public init(perSecond: Int, burst: Int) {
        self.perSecond = max(1, perSecond)
        self.burst = max(1, burst)
    }
}

/// A token bucket in eight bytes: the time at which it will be full again.
///
/// (The cell-rate algorithm of ATM; each token taken moves that time by one interval.)
public struct TokenBucket: Hashable, Sendable {
    private var fullAtMicroseconds: UInt64 = 0

    /// A full bucket.
    public init() {}

    /// Takes a token. Without one left, takes nothing and tells for how many milliseconds not.
    public mutating func take(_ pace: Pace, at now: Mono) -> UInt64? {
        let now = now.milliseconds.multipliedReportingOverflow(by: 1_000).partialValue
        let interval = UInt64(1_000_000 / pace.perSecond)
        let (next, overflow) = max(fullAtMicroseconds, now).addingReportingOverflow(interval)
        guard !overflow else { return nil }
        let room = interval * UInt64(pace.burst)
        guard next - now > room else {
            fullAtMicroseconds = next
            return nil
        }
        return (next - now - room + 999) / 1_000
    }

    /// Whether `take` would find no token.
    public func isEmpty(_ pace: Pace, at now: Mono) -> Bool {
        var copy = self
        return copy.take(pace, at: now) != nil
    }

    /// Takes a token that may not be there yet. Returns for how many milliseconds it is not, at
    /// most `waitMillisecondsMax`: beyond, no more is taken in advance.
    public mutating func charge(
        _ pace: Pace, at now: Mono, waitMillisecondsMax: UInt64 = .max
    ) -> UInt64? {
        guard let wait = take(pace, at: now) else { return nil }
        guard wait < waitMillisecondsMax else { return waitMillisecondsMax }
        fullAtMicroseconds += UInt64(1_000_000 / pace.perSecond)
        return wait
    }
}

extension Refusal {
    /// A refusal of what comes too often.
    public static func tooOften(waitMilliseconds: UInt64) -> Refusal {
        Refusal(.rateLimited, retryAfterSeconds: Int(clamping: (waitMilliseconds + 999) / 1_000))
    }
}
