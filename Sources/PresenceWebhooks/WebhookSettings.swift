/// Where positions are kept: on disk, or wherever else.
public struct WebhookPositions: Sendable {
    let read: @Sendable (_ name: String) -> [UInt8]?
    let write: @Sendable (_ name: String, _ content: [UInt8]) -> Bool

    /// `write` is to return true when the content is there for good, all of it; until then what
    /// was there before.
    public init(
        read: @escaping @Sendable (_ name: String) -> [UInt8]?,
        write: @escaping @Sendable (_ name: String, _ content: [UInt8]) -> Bool
    ) {
        self.read = read
        self.write = write
    }

    private static let mark = "porchlight webhook 1\n"

    /// Where an endpoint's feed goes on; nil: from the beginning.
    func cursor(of name: String) -> String? {
        guard let content = read(name) else { return nil }
        let text = String(decoding: content, as: UTF8.self)
        guard text.hasPrefix(Self.mark), text.hasSuffix("\n") else { return nil }
        let cursor = text.dropFirst(Self.mark.count).dropLast()
        return cursor.isEmpty ? nil : String(cursor)
    }

    /// Keeps where an endpoint's feed goes on; nil: from the beginning.
    func keep(_ cursor: String?, of name: String) -> Bool {
        write(name, Array("\(Self.mark)\(cursor ?? "")\n".utf8))
    }
}

/// How webhooks post.
public struct WebhookSettings: Sendable {
    /// Where to.
    public var endpoints: [WebhookEndpoint] = []
    /// Seconds in which a receiver must have answered.
    public var timeoutSeconds = 10
    /// Seconds between two attempts at most, where a receiver does not ask for more.
    public var retrySecondsMax = 300
    /// Seeds the jitter of the retries.
    public var seed: UInt64

    /// The defaults.
    public init(seed: UInt64) {
        self.seed = seed
    }
}

/// What is counted of an endpoint.
public struct WebhookCounters: Hashable, Sendable {
    /// The endpoint.
    public var name: String
    /// Batches and events that were taken, since the start.
    public var batches = 0, events = 0
    /// Attempts that failed, since the start.
    public var failures = 0
    /// Attempts that failed since the last that did not.
    public var failuresInARow = 0
    /// How often it was begun anew, since the start.
    public var resets = 0
    /// The status of the last answer; nil: there was none.
    public var lastStatus: Int?
    /// How old the oldest event is that waits for being taken, in seconds; 0 where none does.
    public var lagSeconds = 0

    /// Nothing has happened.
    init(name: String) {
        self.name = name
    }
}
