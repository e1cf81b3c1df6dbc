import Connections
import Containers
import PresenceCore
import PresenceStore
import SecureLoop

/// What is measured at one time, for `stats`, `top` and `metrics`. The table of metrics
/// (`MetricTable`) says what of it each of them shows.
struct Measurements {
    var loops: [LoopMeasurements] = []
    var host = HostMeasurements()
    var process = ProcessMeasurements()

    /// A value of each connection loop, added up.
    func sum(_ read: (LoopMeasurements) -> Int) -> Int {
        loops.reduce(0) { $0 + read($1) }
    }

    /// A histogram of each connection loop, added up.
    func sum(_ read: (LoopMeasurements) -> DurationHistogram) -> DurationHistogram {
        loops.reduce(into: DurationHistogram()) { $0 += read($1) }
    }

    /// A counter, wherever it was counted.
    func count(_ read: (ServiceCounters) -> Int) -> Int {
        loops.reduce(read(host.counters)) { $0 + read($1.counters) }
    }
}

/// What a loop of connections measures. Of several loops, everything can be added up.
struct LoopMeasurements: Sendable {
    var counters = ServiceCounters()
    /// Connections that are not completely closed.
    var connections = 0
    /// Client addresses with connections.
    var addresses = 0
    /// Connections of listeners for XMPP.
    var xmppConnections = 0
    var table = TableMeasurements()
    /// Bytes of large messages that are not complete.
    var largeInputBytes = 0
    var times = LoopTimes()
    /// TLS connections and handshakes.
    var tls = TLSCounters()
    /// When the first certificate expires, in seconds since 1970; zero without TLS.
    var tlsExpiresSeconds = 0
    /// CPU time of the loop's thread.
    var processorMicroseconds = 0
}

/// What the host of the engine measures: the engine, the feed and the store.
struct HostMeasurements {
    var configuration = Configuration()
    var counters = ServiceCounters()
    var engine = Stats()
    var tallies = Tallies()
    var messages = MessageStats()
    /// The readers of what is undelivered, and how many messages the slowest has still to be sent.
    var undeliveredReaders = 0
    /// Devices with labels or a push address.
    var devices = 0
    var undeliveredBehind = 0
    /// Memory of the engine's history.
    var historyBytes = 0
    var feed = FeedMeasurements()
    var passwords = PasswordTasks(seed: 0)
    var cards = Cards()
    /// Token verifications in progress.
    var tokensInVerification = 0
    var store = StoreCounters()
    var commitTimes = DurationHistogram()
    /// When the service started, in milliseconds since 1970.
    var startMilliseconds: Int64 = 0
    var uptimeMilliseconds: UInt64 = 0
    /// CPU time of the engine host's thread; that of the only connection loop, if it has none of
    /// its own.
    var processorMicroseconds = 0
    /// Stalled connection loops.
    var stalledLoops = 0
}

/// What is measured of the feed; zero while it is off.
struct FeedMeasurements: Sendable {
    var readers = 0
    /// Events retained, and their bytes.
    var events = 0
    var bytes = 0
    /// The age of the oldest event retained.
    var oldestSeconds = 0
    /// The age of the oldest event that a reader has not been sent.
    var lagSeconds = 0
}

/// What is measured of the process.
struct ProcessMeasurements: Sendable {
    /// Resident memory.
    var memoryBytes = 0
    /// Memory above which what needs more is rejected.
    var memoryBytesMax = 0
    var processorMicroseconds = 0

    /// All zero.
    init() {}

    init(_ resources: some ProcessResources, _ limits: AdmissionLimits) {
        memoryBytes = Int(clamping: resources.memoryBytes)
        memoryBytesMax = Int(clamping: limits.memoryBytesMax(within: resources.memoryLimit))
        processorMicroseconds = Int(clamping: resources.processorMicroseconds)
    }
}
