import Containers
import PresenceCore
import PresenceWire

/// What the reactor counts, since its start.
struct ReactorCounters {
    var accepted = 0
    var acceptFailures = 0
    var requests = 0
    var closedTooSlow = 0
    /// Events that were left out of a full outbox, whose newest state followed.
    var conflated = 0
    /// How many times an outbox was full.
    var fellBehind = 0
    var violations = 0
    var storeFailures = 0
    /// Connections that were one too many.
    var turnedAway = 0
    /// Logins that were told to come back later.
    var loginsDelayed = 0
    /// Requests refused because memory was short.
    var refusedForMemory = 0
    /// Requests refused because the store was far behind.
    var refusedForStore = 0
    /// How many times a connection was not read from because it had asked too much.
    var throttled = 0
    /// Tokens that were given to be judged.
    var inquiries = 0
    /// Tokens that did not hold.
    var tokensRefused = 0
    /// Sessions that ended with their token.
    var tokensExpired = 0
    /// Tokens that were not judged because too many waited for that.
    var refusedForInquiries = 0
    /// Readers of the feed that were begun anew.
    var feedResets = 0
    /// Sessions that have begun, returns included.
    var loginsOfClients = 0
    /// Sessions of app servers that have begun, those of the house included.
    var loginsOfAppServers = 0
    /// Logins that were refused, by reason.
    var loginsRefused = Tally<Refusal.Reason>()
    /// Requests that were refused, logins included, by reason.
    var refusals = Tally<Refusal.Reason>()
    /// Frames that were no requests, by what was wrong.
    var malformed = Tally<EnvelopeFault.Reason>()
    /// Requests that could be read, and whose parameters were right, by method.
    var requestsByMethod = Tally<CommandKind>()
    /// How connections ended.
    var endings = Tally<Ending>()
}

/// Counters for each of a few words.
struct Tally<Word: CaseIterable & Equatable> {
    private let words = Array(Word.allCases)
    private var counts = [Int](repeating: 0, count: Word.allCases.count)

    /// Counts one. O(words): a few bytes are compared.
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
    /// Its user has logged out.
    case logout
    /// The peer has ended it, or the network.
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

/// How the loop keeps up.
struct LoopTimes {
    /// How late the loop was for its deadlines.
    var lag = DurationHistogram()
    /// How long a turn took, from the first thing that had happened to the last write.
    var turns = DurationHistogram()
    /// When the turn under way began, in nanoseconds; nil: nothing has happened yet.
    var turnBegan: UInt64?
    /// The deadline for which the loop's timer was set.
    var awaited: Mono?
}
