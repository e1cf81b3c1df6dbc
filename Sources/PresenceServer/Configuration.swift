public import Outboxes
public import PresenceCore
public import PresenceStore

/// What whoever runs the service decides.
public struct Configuration: Sendable {
    /// Where clients connect: a numeric address.
    public var host = "127.0.0.1"
    /// The port; 0: any.
    public var port: UInt16 = 7_400
    /// The version of the program, for metrics.
    public var version = "unknown"
    /// The folder with the database.
    public var dataDirectory = "./data"
    /// When an answer counts as kept.
    public var durability = Durability.full
    /// Who is believed.
    public var access = AccessMode.open
    /// Who knows whether credentials hold; nil: none do.
    public var authenticator: (any Authenticator)?
    /// How the engine treats those who vanish, and the bounds of the protocol.
    public var engine = Settings()
    /// The bounds of a connection.
    public var connection = ConnectionLimits()
    /// The bounds of the feed.
    public var feed = FeedLimits()
    /// What others in the process have to tell in Prometheus' text format, for `metrics`. Called
    /// on the loop's thread, which it must not hold up.
    public var furtherMetrics: (@Sendable () -> String)?
    /// Limits on pace and on connections.
    public var admission = AdmissionLimits()

    /// The defaults.
    public init() {
        engine.publishPace = Pace(perSecond: 20, burst: 200)
        engine.loginPace = Pace(perSecond: 1, burst: 60)
    }

    /// Switches off every limit on pace and on connections per address, for load tests.
    public mutating func switchOffPace() {
        engine.publishPace = nil
        engine.loginPace = nil
        admission = admission.withoutPace
    }
}

/// What the feed may take, in time and memory, while somebody reads it or has lately.
public struct FeedLimits: Sendable {
    /// Bytes of events that are kept for readers to go on from.
    public var feedBytesMax = 64 << 20
    /// Seconds for which events are kept; and for which they are, once nobody reads any more.
    public var feedSeconds = 3_600
    /// Connections that read the feed at a time.
    public var readersMax = 64
    /// Events in one `feed` notification.
    public var eventsPerFrameMax = 500
    /// Topics that are looked at for one frame of the states with which a reader begins.
    public var topicsPerFrame = 5_000

    /// The defaults.
    public init() {}
}

/// What one connection may take, in time and memory.
public struct ConnectionLimits: Sendable {
    /// Seconds until a connection must have logged in, whatever it sends meanwhile.
    public var loginSeconds = 10
    /// Seconds in which a frame that has begun must be complete.
    public var frameSeconds = 10
    /// Seconds that a connection that is being closed has to take our last words.
    public var farewellSeconds = 10
    /// The same when the service stops: whoever stops it waits ten seconds at most.
    public var farewellSecondsAtStop = 5
    /// Bytes of events that may wait for a client to take them. Beyond, its outbox holds no
    /// events but the set of topics that have changed, and the newest state of each follows
    /// when it has drained. Answers are not counted: there is one at a time.
    public var outboxBytesMax = 1 << 16
    /// Seconds in which a client that has something to take must have taken some of it.
    public var progressSeconds = 15
    /// Bytes in all that may wait for clients who have not taken what they were sent; beyond,
    /// the outboxes of all of them are treated as full.
    public var outboxBytesInAllMax = 512 << 20
    /// Bytes in the outbox of a client that has not taken what it was sent, answers and
    /// expiries included; one that has more is closed.
    public var backlogBytesMax = 2 << 20
    /// Frames of a connection that are carried out in one turn of the loop.
    public var framesPerTurn = 256
    /// Frames of its login list that a connection is given in one turn of the loop.
    public var listFramesPerTurn = 8
    /// What outboxes may share in a turn.
    public var shares = SharedFrames.Limits()
    /// Watchers of large fans that are looked at in one turn of the loop: about a millisecond.
    public var watchersPerTurn = 20_000
    /// Receivers of large fan-outs that are written to in one turn: some three milliseconds,
    /// nearly all of them the kernel's.
    public var receiversPerTurn = 250
    /// Deadlines that are met in one turn of the loop.
    public var deadlinesPerTurn = 2_000

    /// The defaults.
    public init() {}
}
