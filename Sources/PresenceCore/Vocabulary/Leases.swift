/// Why a subscription exists. It delivers while it has at least one lease that both its publisher
/// and the receiving session admit.
public struct Leases: OptionSet, Hashable, Sendable {
    /// Two bits: the index has no room for more.
    public let rawValue: UInt8

    /// These leases; bits that are none are dropped.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue & 3
    }

    /// `subscribe` made it; it ends at its expiry.
    public static let timed = Leases(rawValue: 1)
    /// The publisher has accepted the subscriber's request; it has no end of its own.
    public static let approved = Leases(rawValue: 2)
    /// Both.
    public static let all: Leases = [.timed, .approved]
}

/// Which subscribers of a publisher see it. App servers see every publisher.
public enum Visibility: UInt8, CaseIterable, Sendable {
    /// All of them.
    case open
    /// Those whose request it has accepted.
    case approved
    /// None.
    case hidden

    /// The leases by which its subscribers see it.
    @inlinable public var leases: Leases {
        switch self {
        case .open: .all
        case .approved: .approved
        case .hidden: []
        }
    }
}
