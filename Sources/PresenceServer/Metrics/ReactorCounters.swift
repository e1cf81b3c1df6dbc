import Containers
import PresenceCore
import PresenceWire

/// The reactor's counters since startup.
struct ReactorCounters {
    var accepted = 0
    var acceptFailures = 0
    var requests = 0
    var closedTooSlow = 0
    var violations = 0
    var storeFailures = 0
    /// Connections rejected because a connection limit was reached.
    var turnedAway = 0
    /// Logins rejected with a time after which to retry.
    var loginsDelayed = 0
    /// Requests rejected because memory was short.
    var refusedForMemory = 0
    /// Times that free memory was returned to the kernel.
    var memoryReturns = 0
    /// Requests rejected because the store was far behind.
    var refusedForStore = 0
    /// Times that a connection was throttled.
    var throttled = 0
    /// Tokens submitted for verification.
    var inquiries = 0
    /// Tokens that were rejected.
    var tokensRefused = 0
    /// Sessions ended because their token expired.
    var tokensExpired = 0
    /// Tokens not verified because too many were waiting.
    var refusedForInquiries = 0
    /// Feed readers that were reset.
    var feedResets = 0
    /// Logins of accounts, reconnects included.
    var loginsOfClients = 0
    /// Logins of app servers, in-process connections included.
    var loginsOfAppServers = 0
    /// Logins rejected, by reason.
    var loginsRefused = Tally<Refusal.Reason>()
    /// Requests rejected, logins included, by reason.
    var refusals = Tally<Refusal.Reason>()
    /// Frames without a well-formed request, by reason.
    var malformed = Tally<EnvelopeFault.Reason>()
    /// Requests that were parsed and had valid parameters, by method.
    var requestsByMethod = Tally<CommandKind>()
    /// Connections closed, by reason.
    var endings = Tally<Ending>()
}

/// One counter for each word of a closed set.
struct Tally<Word: CaseIterable & Equatable> {
    private let words = Array(Word.allCases)
    private var counts = [Int](repeating: 0, count: Word.allCases.count)

    /// Counts one. O(words).
    mutating func count(_ word: Word) {
        guard let place = words.firstIndex(of: word) else { return }
        counts[place] += 1
    }

    /// Every word with its count, in the order of their declaration.
    var entries: [(word: Word, count: Int)] { zip(words, counts).map { ($0, $1) } }
}

/// How a connection ended.
enum Ending: String, CaseIterable {
    case protocolViolation = "protocol_violation"
    case loginTimeout = "login_timeout"
    case tokenExpired = "token_expired"
    case idleTimeout = "idle_timeout"
    case replaced
    case kicked
    case tooSlow = "too_slow"
    case shuttingDown = "shutting_down"
    case overloaded
    /// The client logged out.
    case logout
    /// The peer or the network ended it.
    case lost

    init(_ reason: CloseReason) {
        switch reason {
        case .protocolViolation: self = .protocolViolation
        case .loginTimeout: self = .loginTimeout
        case .tokenExpired: self = .tokenExpired
        case .idleTimeout: self = .idleTimeout
        case .replaced: self = .replaced
        case .kicked: self = .kicked
        case .tooSlow: self = .tooSlow
        case .shuttingDown: self = .shuttingDown
        case .overloaded: self = .overloaded
        }
    }
}

/// How well the loop keeps up.
struct LoopTimes {
    /// Timer lag.
    var lag = DurationHistogram()
    /// Duration of turns, from the first event to the last write.
    var turns = DurationHistogram()
    /// When the current turn began, in nanoseconds; nil before its first event.
    var turnBegan: UInt64?
    /// The deadline for which the loop's timer was set.
    var awaited: Mono?
}
