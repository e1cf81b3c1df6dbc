/// A rate limit: a rate and a burst.
public struct Pace: Hashable, Sendable {
    /// The rate per second.
    public var perSecond: Int
    /// The burst.
    public var burst: Int

    /// A rate limit of at least one per second, with a burst of at least one.
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

    /// Whether no token is missing.
    public func isFull(at now: Mono) -> Bool {
        fullAtMicroseconds <= now.milliseconds.multipliedReportingOverflow(by: 1_000).partialValue
    }

    /// Takes a token and returns nil. Without one left, takes nothing and returns the wait in
    /// milliseconds.
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

    /// Takes a token, or refuses the request; without a rate limit, does nothing.
    @inline(__always)
    mutating func spend(_ pace: Pace?, at now: Mono) throws(Refusal) {
        guard let pace, let wait = take(pace, at: now) else { return }
        throw .tooOften(waitMilliseconds: wait)
    }

    /// The wait in milliseconds that `take` would return; nil: there is a token.
    public func wait(_ pace: Pace, at now: Mono) -> UInt64? {
        var copy = self
        return copy.take(pace, at: now)
    }

    /// Takes a token in advance if there is none. Returns the wait for it in milliseconds, at most
    /// `waitMillisecondsMax`: beyond, no more is taken in advance.
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
    /// The refusal of a request above its rate limit.
    public static func tooOften(waitMilliseconds: UInt64) -> Refusal {
        Refusal(.rateLimited, retryAfterSeconds: Int(clamping: (waitMilliseconds + 999) / 1_000))
    }
}
