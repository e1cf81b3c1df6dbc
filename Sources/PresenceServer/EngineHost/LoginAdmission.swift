import Containers
import PresenceCore

/// The rate limit of logins over all connections.
struct LoginAdmission {
    private var logins = TokenBucket()
    /// When clients that were rejected are expected to reconnect.
    private var returns = TokenBucket()

    /// Whether a login may be carried out now; if not, how long its client is to wait at least.
    ///
    /// Clients that are rejected are given times one behind the other: at the rate at which they
    /// can be served, a hundred thousand are spread over as long as that takes.
    mutating func take(_ pace: Pace?, at now: Mono) -> UInt64? {
        guard let pace, logins.take(pace, at: now) != nil else { return nil }
        return returns.charge(
            Pace(perSecond: pace.perSecond, burst: 1), at: now,
            waitMillisecondsMax: UInt64(RetryDelay.baseSecondsMax - 1) * 1_000) ?? 0
    }
}
