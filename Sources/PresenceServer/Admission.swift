import Containers
import EventLoop
public import PresenceCore

// Who is let in, and how fast: so that the service is never driven beyond what it can serve.

/// Limits on pace and on connections. `nil` switches one off.
public struct AdmissionLimits: Sendable {
    /// Frames of a client. Beyond, it is read from more slowly: nothing is lost or refused.
    public var requestPace: Pace? = Pace(perSecond: 100, burst: 1_000)
    /// Frames of an app server.
    public var appServerRequestPace: Pace? = Pace(perSecond: 5_000, burst: 20_000)
    /// Logins in all. Beyond, a connection is closed with 4504 and the time to come back.
    public var loginPace: Pace? = Pace(perSecond: 3_000, burst: 3_000)
    /// Logins of one address that fail. Beyond, its tokens are verified while few others wait.
    public var failedLoginPace: Pace? = Pace(perSecond: 10, burst: 100)
    /// Connections from one address; beyond, a new one is closed with 4504.
    public var connectionsPerAddressMax: Int? = 4_096
    /// Connections in all; beyond, a new one is closed with 4504. At most what the descriptors of
    /// the process allow.
    public var connectionsMax = 1_000_000
    /// Connections beyond a limit that are given time to read the close reason. Further ones are
    /// sent the reason and closed in the same turn.
    public var turnedAwayMax = 16
    /// Descriptors that HTTP, webhooks and fetches of keys may take, and connections leave to
    /// them.
    public var descriptorsElsewhere = 0
    /// Writes that may wait for the store; beyond, what has to be stored is refused.
    public var storePendingMax = 200_000
    /// Tokens that may wait to be judged; beyond, whoever shows one is told to come back.
    public var inquiriesMax = 1_000
    /// The same for tokens from an address of which too many logins have failed.
    public var suspectInquiriesMax = 100
    /// Bytes that the process may have in memory; beyond, logins and subscriptions are refused.
    public var memoryBytesMax: UInt64?

    /// The defaults.
    public init() {}

    /// Descriptors of the loop, the listener, the database, the log and the runtime: some 30.
    static let descriptorsFixed = 32
    /// Descriptors that are kept free for files that are opened for a moment.
    static let descriptorsFree = 32
    /// With fewer descriptors the service does not start.
    public static let descriptorsMin = 256

    /// Sets what depends on the machine, where the settings do not. `descriptorsElsewhere` must
    /// leave room for connections.
    mutating func fillIn(memoryBytes: UInt64, descriptorsMax: Int) {
        if memoryBytesMax == nil { memoryBytesMax = memoryBytes / 10 * 8 }
        let others =
            Self.descriptorsFixed + Self.descriptorsFree + turnedAwayMax + descriptorsElsewhere
        connectionsMax = min(connectionsMax, max(1, descriptorsMax - others))
        // The rest is left to other addresses.
        if let max = connectionsPerAddressMax {
            connectionsPerAddressMax = min(max, Swift.max(1, connectionsMax / 4 * 3))
        }
    }

    /// Sets what depends on this machine, where the settings do not.
    mutating func fillInFromMachine() {
        fillIn(
            memoryBytes: Loop.memoryBytesAvailable, descriptorsMax: Descriptors.raiseMax())
    }

    /// The limits that stay when those on pace are off.
    public var withoutPace: AdmissionLimits {
        var limits = self
        limits.requestPace = nil
        limits.appServerRequestPace = nil
        limits.loginPace = nil
        limits.failedLoginPace = nil
        limits.connectionsPerAddressMax = nil
        return limits
    }
}

/// How many connections each client's network has.
struct AddressBook: ~Copyable {
    private var names: NameTable
    private var counts: [UInt32] = []

    init(seed: UInt64) {
        names = NameTable(seed: seed)
    }

    /// Notes a connection from `network`. Returns nil if that has `max` connections already.
    mutating func enter(_ network: ClientNetwork?, max: Int?) -> UInt32? {
        guard let name = network?.bytes else { return .max }
        if let max, let known = names.find(name.span), Int(counts[Int(known)]) >= max {
            return nil
        }
        let number = names.intern(name.span)
        while counts.count <= Int(number) { counts.append(0) }
        counts[Int(number)] += 1
        return number
    }

    /// Notes the end of a connection.
    mutating func leave(_ number: UInt32) {
        guard number != .max else { return }
        counts[Int(number)] -= 1
        if counts[Int(number)] == 0 { names.remove(number) }
    }

    /// The network of a number that `enter` has returned.
    func network(_ number: UInt32) -> ClientNetwork? {
        number == .max ? nil : ClientNetwork(name: names.bytes(of: number))
    }

    /// Networks with connections now.
    var count: Int { names.count }
}

/// Recent failed logins by network.
///
/// The size is fixed: networks share buckets by a keyed hash.
struct FailedLogins {
    private static let bucketCount = 8_192

    private let seed: UInt64
    private var buckets = [TokenBucket](repeating: TokenBucket(), count: bucketCount)

    init(seed: UInt64) {
        self.seed = seed
    }

    /// Counts one.
    mutating func note(_ network: ClientNetwork?, _ pace: Pace?, at now: Mono) {
        guard let network, let pace else { return }
        _ = buckets[bucket(of: network)].take(pace, at: now)
    }

    /// Whether a network has had as many as it may.
    func isSuspect(_ network: ClientNetwork?, _ pace: Pace?, at now: Mono) -> Bool {
        guard let network, let pace else { return false }
        return buckets[bucket(of: network)].isEmpty(pace, at: now)
    }

    private func bucket(of network: ClientNetwork) -> Int {
        network.bucket(of: Self.bucketCount, seed: seed)
    }
}
