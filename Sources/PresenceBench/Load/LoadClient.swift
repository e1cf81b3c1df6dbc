import EventLoop
import PresenceWire

/// One connection of the load, and its phase.
struct LoadClient {
    enum Phase: UInt8 {
        /// Not connected. To: `opening`.
        case away
        /// In the queue of clients that may connect. To: `connecting`.
        case opening
        /// Was disconnected or rejected, and reconnects at its deadline. To: `connecting`.
        case waiting
        /// To: `loggingIn`, `waiting`.
        case connecting
        /// To: `listing`, `waiting`.
        case loggingIn
        /// To: `online`, `waiting`.
        case listing
        /// To: `away`, `waiting`.
        case online
    }

    enum Role: UInt8 { case account, appServer }

    var stream = StreamID(slot: .max, generation: 0)
    var phase = Phase.away
    var role = Role.account
    /// The socket has not accepted all bytes; later ones wait in `outbox`.
    var isBlocked = false
    /// Consecutive failures.
    var failures: UInt8 = 0
    /// When a waiting client reconnects, or an attempt to connect is aborted.
    var deadline: UInt64 = 0
    var splitter = FrameSplitter()
    var outbox: [UInt8] = []
    /// Nil without TLS.
    var session: LoadSession?
}

/// The counters of the load.
struct LoadCounters {
    var events = 0
    var eventBytes = 0
    var listedStates = 0
    var connectFailures = 0
    var timeouts = 0
    var rejections = 0
    /// Connections that the service has closed, by its code.
    var closes: [Int: Int] = [:]
    var losses = 0
    var requestsOutstanding = 0
    var unexpected: String?
}
