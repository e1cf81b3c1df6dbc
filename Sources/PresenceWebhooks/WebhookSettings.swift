/// How webhooks post.
public struct WebhookSettings: Sendable {
    /// The endpoints.
    public var endpoints: [WebhookEndpoint] = []
    /// Seconds within which a receiver must respond.
    public var timeoutSeconds = 10
    /// The most seconds between two attempts, unless a receiver asks for more.
    public var retrySecondsMax = 300
    /// Seeds the jitter of the retries.
    public var seed: UInt64

    /// The defaults.
    public init(seed: UInt64) {
        self.seed = seed
    }
}

/// The counters of an endpoint.
public struct WebhookCounters: Hashable, Sendable {
    /// The endpoint.
    public var name: String
    /// Batches and events accepted since startup.
    public var batches = 0, events = 0
    /// Failed attempts since startup.
    public var failures = 0
    /// Failed attempts since the last success.
    public var failuresInARow = 0
    /// Resets since startup.
    public var resets = 0
    /// The status of the last response; nil if there was none.
    public var lastStatus: Int?
    /// The age of the oldest event that has not been accepted, in seconds; 0 if there is none.
    public var lagSeconds = 0

    /// All counters at 0.
    init(name: String) {
        self.name = name
    }
}
