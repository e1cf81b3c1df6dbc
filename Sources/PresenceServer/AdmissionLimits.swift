public import EventLoop
public import PresenceCore

/// Rate limits, and limits on connections. `nil` disables one.
public struct AdmissionLimits: Sendable {
    /// Frames of a client. Beyond, it is read from more slowly: nothing is lost or rejected.
    public var requestPace: Pace? = Pace(perSecond: 100, burst: 1_000)
    /// Frames of an app server.
    public var appServerRequestPace: Pace? = Pace(perSecond: 5_000, burst: 20_000)
    /// Logins in all. Beyond, a connection is closed with 4504 and the time after which to
    /// reconnect.
    public var loginPace: Pace? = Pace(perSecond: 3_000, burst: 3_000)
    /// Logins of one address that fail, a wrong password counting as ten. Beyond, its tokens are
    /// verified while few others wait, and its logins with a password are rejected.
    public var failedLoginPace: Pace? = Pace(perSecond: 10, burst: 100)
    /// Connections from one address; beyond, a new one is closed with 4504.
    public var connectionsPerAddressMax: Int? = 4_096
    /// Connections in all; beyond, a new one is closed with 4504. At most what the descriptors of
    /// the process allow.
    public var connectionsMax = 1_000_000
    /// Connections beyond a limit that are given time to read the close reason. Further ones are
    /// sent the reason and closed in the same turn.
    public var overLimitMax = 16
    /// Descriptors that HTTP, webhooks and fetches of keys may take, and connections leave to
    /// them.
    public var descriptorsElsewhere = 0
    /// Writes that may wait for the store; beyond, what has to be stored is rejected.
    public var storePendingMax = 200_000
    /// Tokens that may wait to be verified; beyond, a login with one is rejected for a while.
    public var tokensMax = 1_000
    /// The same for tokens from an address of which too many logins have failed.
    public var suspectTokensMax = 100
    /// Registrations, and changes of passwords by clients, from one address; each counts as ten.
    /// Beyond, they are rejected.
    public var registrationPace: Pace? = Pace(perSecond: 1, burst: 50)
    /// Accounts with a password; beyond, none can be registered.
    public var passwordsMax = 1_000_000
    /// Bytes of the cards of all accounts; beyond, none can be set.
    public var cardBytesInAllMax = 256 << 20
    /// Bytes that the process may have in memory; beyond, logins and subscriptions are rejected.
    /// Nil: what `memoryBytesMax(within:)` says of the limit that the machine or a control group
    /// sets at the time.
    public var memoryBytesMax: UInt64?

    /// The defaults.
    public init() {}

    /// Descriptors of the loop, the listener, the database, the log and the runtime: some 30.
    static let descriptorsFixed = 32
    /// Descriptors that are kept free for files that are opened for a moment.
    static let descriptorsFree = 32
    /// Of the process itself, those that stay free, and those of connections above the limit.
    public var descriptorsReserved: Int {
        Self.descriptorsFixed + Self.descriptorsFree + overLimitMax
    }
    /// With fewer descriptors the service does not start.
    public static let descriptorsMin = 256

    /// The per cent of the limit on its memory that the process uses before it rejects what needs
    /// more. The rest is for what the kernel keeps for it, and for what it has begun.
    public static let memoryPercent: UInt64 = 80

    /// Bytes that the process may have in memory within such a limit.
    public func memoryBytesMax(within limit: MemoryLimit) -> UInt64 {
        if let memoryBytesMax { return memoryBytesMax }
        let (whole, rest) = limit.bytes.quotientAndRemainder(dividingBy: 100)
        return whole * Self.memoryPercent + rest * Self.memoryPercent / 100
    }

    /// Sets what depends on the machine, where the settings do not. `descriptorsElsewhere` must
    /// leave room for connections.
    mutating func fillIn(descriptorsMax: Int) {
        let others = descriptorsReserved + descriptorsElsewhere
        connectionsMax = min(connectionsMax, max(1, descriptorsMax - others))
        // The rest is left to other addresses.
        if let max = connectionsPerAddressMax {
            connectionsPerAddressMax = min(max, Swift.max(1, connectionsMax / 4 * 3))
        }
    }

    /// Sets what depends on this machine, where the settings do not.
    mutating func fillInFromMachine() {
        fillIn(descriptorsMax: Descriptors.raiseMax())
    }

    /// The limits that remain when rate limits are disabled.
    public var withoutPace: AdmissionLimits {
        var limits = self
        limits.requestPace = nil
        limits.appServerRequestPace = nil
        limits.loginPace = nil
        limits.failedLoginPace = nil
        limits.registrationPace = nil
        limits.connectionsPerAddressMax = nil
        return limits
    }
}
