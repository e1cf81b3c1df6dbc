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

    /// In how many microseconds one more is allowed.
    var tokenMicroseconds: UInt64 { UInt64(1_000_000 / perSecond) }
}

extension Mono {
    /// Wraps around after half a million years.
    var microseconds: UInt64 { milliseconds.multipliedReportingOverflow(by: 1_000).partialValue }
}

/// A token bucket in eight bytes: the time at which it will be full again.
///
/// (The cell-rate algorithm of ATM; each token taken moves that time by one interval.)
public struct TokenBucket: Hashable, Sendable, RefillingBucket {
    private(set) var fullAtMicroseconds: UInt64 = 0

    /// A full bucket.
    public init() {}

    /// Whether no token is missing.
    public func isFull(at now: Mono) -> Bool {
        fullAtMicroseconds <= now.microseconds
    }

    /// What is missing, in microseconds of refilling.
    func missingMicroseconds(at now: Mono) -> UInt64 {
        fullAtMicroseconds - min(fullAtMicroseconds, now.microseconds)
    }

    /// How many tokens are missing.
    public func missing(_ pace: Pace, at now: Mono) -> Int {
        Int(clamping: missingMicroseconds(at: now) / max(1, pace.tokenMicroseconds))
    }

    /// Takes tokens and returns nil. Without as many left, takes nothing and returns the wait in
    /// milliseconds.
    public mutating func take(_ pace: Pace, count: Int = 1, at now: Mono) -> UInt64? {
        guard let (next, wait) = taking(count, pace, at: now) else { return nil }
        guard wait == 0 else { return wait }
        fullAtMicroseconds = next
        return nil
    }

    /// When the bucket is full again if tokens are taken, and the wait for them in milliseconds.
    /// Nil: never.
    @inline(__always)
    private func taking(
        _ count: Int, _ pace: Pace, at now: Mono
    ) -> (next: UInt64, wait: UInt64)? {
        let now = now.microseconds
        let token = pace.tokenMicroseconds
        let (interval, isNever) = token.multipliedReportingOverflow(by: UInt64(clamping: count))
        let (next, overflow) = max(fullAtMicroseconds, now).addingReportingOverflow(interval)
        guard !overflow, !isNever else { return nil }
        let room = token * UInt64(pace.burst)
        guard next - now > room else { return (next, 0) }
        return (next, (next - now - room + 999) / 1_000)
    }

    /// Takes a token, or rejects the request; without a rate limit, does nothing.
    @inline(__always)
    mutating func spend(_ pace: Pace?, at now: Mono) throws(Rejection) {
        guard let pace, let wait = take(pace, at: now) else { return }
        throw .tooOften(waitMilliseconds: wait)
    }

    /// The wait in milliseconds that `take` would return; nil: there is a token.
    public func wait(_ pace: Pace, at now: Mono) -> UInt64? {
        var copy = self
        return copy.take(pace, at: now)
    }

    /// Takes tokens in advance if there are not as many. Returns the wait for them in milliseconds,
    /// at most `waitMillisecondsMax`: beyond, no more is taken in advance.
    public mutating func charge(
        _ pace: Pace, count: Int = 1, at now: Mono, waitMillisecondsMax: UInt64 = .max
    ) -> UInt64? {
        guard let (next, wait) = taking(count, pace, at: now) else { return nil }
        guard wait < waitMillisecondsMax || wait == 0 else { return waitMillisecondsMax }
        fullAtMicroseconds = next
        return wait == 0 ? nil : wait
    }
}

extension Rejection {
    /// The rejection of a request above its rate limit.
    public static func tooOften(waitMilliseconds: UInt64) -> Rejection {
        Rejection(.rateLimited, retryAfterSeconds: Int(clamping: (waitMilliseconds + 999) / 1_000))
    }
}
