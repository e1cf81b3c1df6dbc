/// One subscription in the list of its subscriber: 20 bytes.
///
/// An expiry has 48 bits (8,900 years of milliseconds): it is exact to the millisecond, for four
/// bytes more than coarser 32-bit times. The time of creation has 46 bits (up to the year 4199),
/// the leases have two.
struct Subscription {
    /// The topic.
    var topic: UInt32
    /// The position of the subscriber in the topic's fan.
    var position: UInt32
    private var deadlineLow: UInt32
    private var createdLow: UInt32
    private var deadlineHigh: UInt16
    private var createdHigh: UInt16

    /// The deadline of a subscription without a timed lease: the highest that fits.
    static let never = Mono(milliseconds: 1 << 48 - 1)

    private static let createdMax: UInt64 = 1 << 46 - 1

    init(topic: UInt32, position: UInt32, lease: Leases, created: Wall, deadline: Mono) {
        self.topic = topic
        self.position = position
        createdLow = 0
        createdHigh = UInt16(lease.rawValue) << 14
        deadlineLow = UInt32(truncatingIfNeeded: deadline.milliseconds)
        deadlineHigh = UInt16(truncatingIfNeeded: deadline.milliseconds >> 32)
        self.created = created
    }

    /// Why it exists; never empty.
    var leases: Leases {
        get { Leases(rawValue: UInt8(truncatingIfNeeded: createdHigh >> 14)) }
        set { createdHigh = UInt16(newValue.rawValue) << 14 | createdHigh & 0x3FFF }
    }

    /// When its timed lease expires; `never` if it has none.
    var deadline: Mono {
        get { Mono(milliseconds: UInt64(deadlineHigh) << 32 | UInt64(deadlineLow)) }
        set {
            deadlineLow = UInt32(truncatingIfNeeded: newValue.milliseconds)
            deadlineHigh = UInt16(truncatingIfNeeded: newValue.milliseconds >> 32)
        }
    }

    /// When it was created; since when it has its timed lease, if it has one.
    var created: Wall {
        get {
            Wall(milliseconds: Int64(UInt64(createdHigh & 0x3FFF) << 32 | UInt64(createdLow)))
        }
        set {
            let time = min(UInt64(clamping: newValue.milliseconds), Self.createdMax)
            createdLow = UInt32(truncatingIfNeeded: time)
            createdHigh = createdHigh & 0xC000 | UInt16(truncatingIfNeeded: time >> 32)
        }
    }
}

/// A subscriber in the fan of a topic: 4 bytes, which is all that a fan-out reads of it.
///
/// The leases are a copy of those of its subscription.
struct Watcher {
    private var bits: UInt32

    /// The highest number of an account that fits.
    static let accountMax: UInt32 = 1 << 30 - 1

    init(account: UInt32, leases: Leases) {
        bits = UInt32(leases.rawValue) << 30 | account
    }

    /// The number of the account.
    @inline(__always) var account: UInt32 { bits & Self.accountMax }

    /// Why it subscribes.
    @inline(__always) var leases: Leases {
        get { Leases(rawValue: UInt8(truncatingIfNeeded: bits >> 30)) }
        set { self = Watcher(account: account, leases: newValue) }
    }
}
