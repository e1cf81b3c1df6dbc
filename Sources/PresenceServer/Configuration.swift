public import Connections
import EventLoop
public import Outboxes
public import PresenceCore
public import PresenceStore
public import TLSSessions

/// The operator's settings.
public struct Configuration: Sendable {
    /// The numeric address that clients connect to.
    public var host = "127.0.0.1"
    /// The port; 0 for any free port.
    public var port: UInt16 = 7_400
    /// Where clients connect over TLS; nil: nowhere.
    public var tls: TLSListening?
    /// Where XMPP clients connect; nil: nowhere.
    public var xmpp: XMPPListening?
    /// Connection loops, each on a thread of its own if there are several; nil: as many as
    /// `loopsAuto`.
    public var loops: Int? = 1
    /// The version of the program, for metrics.
    public var version = "unknown"
    /// The data directory.
    public var dataDirectory = "./data"
    /// When a change counts as durable.
    public var durability = Durability.full
    /// Which credentials are required.
    public var access = AccessMode.open
    /// Whether accounts may log in with a password.
    public var passwords = PasswordUse.none
    /// Origins of the web pages that may connect, such as `https://app.example.com`; nil: those of
    /// this machine where identities are claimed, and all where credentials are required.
    public var webSocketOrigins: Set<[UInt8]>?
    /// Watches the loops; nil: nothing does.
    public var watchdog: Watchdog?
    /// Verifies credentials; nil: all are invalid.
    public var authenticator: (any Authenticator)?
    /// The engine's settings: graces, and the limits of the protocol.
    public var engine = Settings()
    /// The limits of a connection.
    public var connection = ConnectionLimits()
    /// The limits of the feed.
    public var feed = FeedLimits()
    /// Further metrics of this process in the Prometheus text format, for `metrics`. Called on the
    /// engine host's thread, which it must not block.
    public var furtherMetrics: (@Sendable () -> [UInt8])?
    /// Rate limits and limits on connections.
    public var admission = AdmissionLimits()

    /// The defaults.
    public init() {}

    /// The most connection loops.
    public static let loopsMax = 64
    /// The most that are chosen automatically.
    static let loopsAutoMax = 8

    /// The connection loops of a service with this configuration.
    var loopCount: Int {
        loops ?? max(1, min(Processors.allowed().count, Self.loopsAutoMax))
    }

    /// Descriptors of the loops beyond one on the service's only thread.
    public var descriptorsOfFurtherLoops: Int {
        // Each connection loop but the first, and the engine host's.
        loopCount > 1 ? loopCount * Loop.descriptorsMax : 0
    }

    /// Switches off every rate limit and the limit on connections per address, for load tests.
    public mutating func switchOffPace() {
        engine = engine.withoutPace
        admission = admission.withoutPace
    }
}

/// An address that clients connect to over TLS.
public struct TLSListening: Sendable {
    /// The numeric address.
    public var host: String
    /// The port; 0 for any free port.
    public var port: UInt16
    /// The certificates; a reload replaces them.
    public var context: TLSContext

    /// The address and its certificates.
    public init(host: String, port: UInt16, context: TLSContext) {
        self.host = host
        self.port = port
        self.context = context
    }
}

/// What the feed may use, in time and memory, while it has readers or had one recently.
public struct FeedLimits: Sendable {
    /// Bytes of events that are retained for feed readers.
    public var feedBytesMax = 64 << 20
    /// Seconds for which events are retained, and for which they still are after the last reader
    /// left.
    public var feedSeconds = 3_600
    /// Concurrent feed readers over connections; half of them with keys that may only read.
    public var readersMax = 64
    /// Events in one `feed` notification.
    public var eventsPerFrameMax = 500
    /// Messages in one `undelivered` notification.
    public var undeliveredPerFrameMax = 500
    /// Bytes of JSON in one `undelivered` notification, unless one message has more.
    public var undeliveredBytesPerFrameMax = 1 << 18
    /// Topics that are visited for one frame of a snapshot.
    public var topicsPerFrame = 5_000

    /// The defaults.
    public init() {}
}

/// What one connection may use, in time and memory.
public struct ConnectionLimits: Sendable {
    /// Seconds within which a connection must log in, whatever it sends.
    public var loginSeconds = 10
    /// The same of XMPP clients, whose users may be asked meanwhile whether they trust a
    /// certificate, or for a name and a password to register.
    public var xmppLoginSeconds = 120
    /// Seconds within which a frame must be complete; one that is longer, each 64 KiB of it.
    public var frameSeconds = 10
    /// Seconds that a connection that is being closed has to read the final frames.
    public var farewellSeconds = 10
    /// The same during shutdown, which may take ten seconds at most.
    public var farewellSecondsAtStop = 5
    /// Bytes of events that may wait for a client to take them. Beyond, its outbox holds no
    /// events but the set of topics that have changed, and the newest state of each follows
    /// when it has drained. Answers are not counted: there is one at a time.
    public var outboxBytesMax = 1 << 18
    /// Seconds within which a client that has data to read must have read some of it.
    public var progressSeconds = 15
    /// Bytes in all outboxes of clients that do not read what they are sent, and in the kernel for
    /// them; beyond, the outboxes of all such clients are treated as full.
    public var outboxBytesInAllMax = 512 << 20
    /// Bytes in all that clients may have sent of messages above 64 KiB which are not complete, or
    /// wait for a rate limit; beyond, the connections of the network and account with most of them
    /// end.
    public var largeInputBytesMax = 64 << 20
    /// Bytes in the outbox of a client that has not taken what it was sent, answers and
    /// expiries included; one that has more is closed.
    public var backlogBytesMax = 2 << 20
    /// What is carried out in one turn of the loop.
    public var turn = TurnLimits()
    /// Frames of its login list that a connection is given in one turn of the loop.
    public var listFramesPerTurn = 8
    /// Bytes of such frames that all connections are given in one turn. The last frame may exceed
    /// it.
    public var listBytesPerTurn = 512 << 10
    /// Outboxes that are flushed in one turn of the loop, if more wait.
    public var outboxesPerTurn = 64
    /// At least this fraction (1/n) of the waiting outboxes is flushed in a turn.
    public var flushFraction = 8
    /// What outboxes may share until they are written.
    public var shares = SharedFrames.Limits()
    /// Subscribers of large fans that are looked at in one turn of the loop: about a millisecond.
    public var subscribersPerTurn = 20_000
    /// Receivers of large fan-outs that are written to in one turn: some three milliseconds,
    /// nearly all of them the kernel's.
    public var receiversPerTurn = 250
    /// Deadlines that are met in one turn of the loop.
    public var deadlinesPerTurn = 2_000

    /// The defaults.
    public init() {}
}
