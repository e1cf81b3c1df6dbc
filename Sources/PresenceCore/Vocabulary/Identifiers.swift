import Containers

/// An interned account name. Valid while something in the engine refers to the account.
public struct AccountHandle: Hashable, Sendable {
    /// The number of the name in the engine's name table.
    public let index: UInt32

    /// The handle with this number.
    public init(index: UInt32) {
        self.index = index
    }
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
    /// Where `topic` stands in this sorted list, or would. O(log n).
    public func lowerBound(of topic: TopicHandle) -> Int { partitionPoint { $0 < topic } }
}

/// A connection as the owner of the sockets names it.
///
/// The slot is reused when a connection is gone, with another generation.
public struct ConnectionID: Hashable, Sendable {
    /// A small dense number, one per connection that is open now.
    public let slot: UInt32
    /// Distinguishes the connections that had the same slot one after the other.
    public let generation: UInt32

    /// The connection with this slot and generation.
    public init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// A login, unique over the life of the database.
public struct SessionID: Hashable, Sendable {
    /// The login's place among all logins this service has seen.
    public let ordinal: UInt64

    /// The session with this ordinal.
    public init(ordinal: UInt64) {
        self.ordinal = ordinal
    }
}

/// What a publisher's event is about.
public struct EventType: Hashable, Comparable, Sendable {
    /// The number on the wire.
    public let number: UInt16

    /// The type with this number.
    public init(number: UInt16) {
        self.number = number
    }

    /// Whether somebody is there: the type that the service itself keeps.
    public static let presence = EventType(number: 1)

    /// Whether `lhs` has the lower number.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.number < rhs.number
    }
}

/// What kind of program a session runs in.
public enum ClientKind: UInt8, CaseIterable, Sendable {
    case android = 1
    case ios, harmony, windows, macos, linux, web, server, other
}
