import Containers

/// An interned account name. Valid while something in the engine refers to the account.
public struct AccountHandle: Hashable, Sendable {
    /// The number of the name in the engine's name table.
    public let index: UInt32
}

/// What can be subscribed to: one event type of one publisher.
public struct TopicHandle: Hashable, Comparable, Sendable {
    /// The topic's place in the engine's table of topics.
    public let index: UInt32

    /// The handle with this number.
    public init(index: UInt32) {
        self.index = index
    }

    /// Whether `lhs` has the lower number. Listings are in this order.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.index < rhs.index
    }
}

extension [TopicHandle] {
    /// The position of `topic` in this sorted list, or where it would be inserted. O(log n).
    public func lowerBound(of topic: TopicHandle) -> Int { partitionPoint { $0 < topic } }
}

/// A connection, as the owner of the sockets identifies it.
///
/// The slot is reused when a connection has ended, with another generation.
public struct ConnectionID: Hashable, Sendable {
    /// A small dense number, one per open connection; or one from `inProcessSlotMin` up.
    public let slot: UInt32
    /// Distinguishes the connections that had the same slot one after the other.
    public let generation: UInt32

    /// The connection with this slot and generation.
    public init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    /// Slots from here up are those of callers in the service's own process. They are app servers
    /// without a login; the engine keeps nothing about them.
    public static let inProcessSlotMin: UInt32 = 1 << 31

    /// Whether this is a caller in the service's own process.
    public var isInProcess: Bool { slot >= Self.inProcessSlotMin }
}

/// A login, unique over the life of the database.
public struct SessionID: Hashable, Sendable {
    /// The login's position among all logins of this service.
    public let ordinal: UInt64

    /// The session with this ordinal.
    public init(ordinal: UInt64) {
        self.ordinal = ordinal
    }
}

/// The type of an event.
public struct EventType: Hashable, Comparable, Sendable {
    /// The number on the wire.
    public let number: UInt16

    /// The type with this number.
    public init(number: UInt16) {
        self.number = number
    }

    /// Whether an account is online: the type that the service itself maintains.
    public static let presence = EventType(number: 1)

    /// Whether `lhs` has the lower number.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.number < rhs.number
    }
}

/// The kind of client that a session runs in.
public enum ClientKind: UInt8, CaseIterable, Sendable {
    case android = 1
    case ios, harmony, windows, macos, linux, web, server, other
    /// A client of XMPP, of which no more is known. A native client cannot say that it is one.
    case xmpp
}
