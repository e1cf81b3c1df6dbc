public import PresenceCore
public import WebPush

/// How Web Push sends.
public struct PushSettings: Sendable {
    /// The key by which push services know this service.
    public var key: VAPIDKey
    /// The contact to which they can report problems.
    public var subject: PushSubject
    /// The push services that are sent to.
    public var hosts: PushHosts
    /// Seconds within which a push service must respond.
    public var timeoutSeconds = 10
    /// Requests of one reader in flight.
    public static let inFlightMax = 32
    /// The most milliseconds between two attempts of a push, and before a push service that is down
    /// is tried again; unless it asks for more. The second is shorter: all its pushes wait.
    var retryMillisecondsMax = 300_000
    var downMillisecondsMax = 60_000
    /// Seeds the jitter of the retries.
    public var seed: UInt64

    /// With the defaults.
    public init(_ key: VAPIDKey, _ subject: PushSubject, _ hosts: PushHosts, seed: UInt64) {
        (self.key, self.subject, self.hosts, self.seed) = (key, subject, hosts, seed)
    }
}

/// The counters of a reader.
public struct PushCounters: Hashable, Sendable {
    /// The entry of the list of hosts.
    public var host: String
    /// Pushes that the push service has accepted, since startup.
    public var sent = 0
    /// Failed attempts since startup.
    public var failures = 0
    /// Pushes that are not tried again: rejected, failed too often while others succeeded, or more
    /// than are set aside.
    public var dropped = 0
    /// Pushes that are set aside, and endpoints whose last push has failed.
    public var waiting = 0, failingEndpoints = 0
    /// Addresses of devices that messages were not pushed to, by reason; of the first host only.
    public var passedOver: [PushRejection: Int] = [:]
    /// Addresses that were removed because the push service had reported them as expired.
    public var addressesRemoved = 0
    /// The age of the oldest message with a push that is not finished, in seconds; 0 if there is
    /// none.
    public var lagSeconds = 0

    /// All counters at 0.
    init(host: String) { self.host = host }
}
