public import PresenceCore
public import PresenceWire

/// Bounds of one client.
public struct InProcessLimits: Sendable {
    /// Calls in progress, those that wait here included.
    public var callsMax = 576
    /// Calls that the engine host has. They are carried out in one turn of the service's loop, so
    /// their number bounds for how long clients wait for them.
    public var callsAtOnceMax = 64
    /// States that calls that the engine host has may ask for, but for those of the last one. They
    /// are all in memory at once.
    public var statesAtOnceMax = 1_000
    /// Bytes of results that are in use. Above it, calls for more than one state fail.
    public var resultBytesMax = 64 << 20
    /// Readers of the feed.
    public var feedReadersMax = 64
    /// The longest duration of a call that has a deadline, its wait for others included.
    public var requestMilliseconds = 10_000

    /// The defaults.
    public init() {}
}

/// What has become of a call that the service has carried out.
public enum InProcessResponse: Sendable {
    /// The `result`, as JSON.
    case result(ResultBytes)
    /// The text of `metrics`.
    case text(ResultBytes)
    /// The fields of `stats`, and the same as JSON.
    case stats([StatsField], result: ResultBytes)
    /// What a device has, after `setDevice`, and the same as JSON.
    case device(DeviceLabels, result: ResultBytes)
    /// The caller is a reader of the feed now.
    case feed(FeedStart, InProcessClient.ID)
}

/// Why a call has no response, or a reader nothing to read.
public enum InProcessError: Error, Hashable, Sendable {
    /// The service does not accept clients yet. Nothing was done.
    case starting
    /// Too many calls, or readers, are in progress. Nothing was done.
    case overloaded
    /// There was no response in time. The request may or may not have been carried out.
    case timedOut
    /// The caller has given up.
    case cancelled
    /// The body is no object of parameters. Nothing was done.
    case invalidBody(BodyError)
    /// The call is larger than the service accepts. Nothing was done.
    case tooLong(bytesMax: Int)
    /// The service has rejected it.
    case rejected(ErrorContent)
    /// The service has ended.
    case ended
}

/// What a client has counted.
public struct InProcessCounters: Hashable, Sendable {
    /// Calls that the engine host has, and calls that wait.
    public var inProgress = 0, waiting = 0
    /// Since startup: calls that failed because too many were in progress, or their results in use,
    /// and without a response in time.
    public var rejected = 0, timedOut = 0
    /// Bytes of results that are in use.
    public var resultBytes = 0

    /// All counters at 0.
    public init() {}
}
