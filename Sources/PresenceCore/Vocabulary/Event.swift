/// The cause of an event.
public enum Cause: UInt8, CaseIterable, Sendable {
    case login, logout, disconnect, publish, cleared, expired, kicked, restart
    /// A state; nothing happened.
    case sync
    /// A device presents itself in another way.
    case changed
    /// The receiver may not see the publisher any more. The state is that of an unknown account.
    case hidden
    /// The receiver may see the publisher now, and could not before.
    case shown
}

/// The values of type 1 that the service itself uses.
public enum OwnValue {
    /// Nothing is known of the account.
    public static let unknown: Int32 = 0
    /// A session has begun.
    public static let login: Int32 = 1
    /// The client or an app server ended a session.
    public static let logout: Int32 = 2
    /// A session was lost.
    public static let disconnect: Int32 = 3
}

/// A range of `Effects.bytes`.
public struct ByteRange: Hashable, Sendable {
    /// The first byte's index.
    public var start: Int32
    /// The number of bytes.
    public var count: Int32

    /// A range.
    public init(start: Int32, count: Int32) {
        self.start = start
        self.count = count
    }
}

/// A device in an event: the kind of its client, its name (in `Effects.bytes`) and its reach.
public struct DeviceEntry: Hashable, Sendable {
    /// The kind of its client.
    public var client: ClientKind
    /// Its name.
    public var name: ByteRange
    /// `push` if it is push-only.
    public var reach: Reach
    /// How it presents itself: an index of `Effects.availabilities`; nil: as available, and nothing
    /// more.
    public var availability: Int32?
}

/// A custom status in force.
public struct StatusEntry: Hashable, Sendable {
    /// The app's value.
    public var value: Int32
    /// The app's text, in `Effects.bytes`; nil if there is none.
    public var ext: ByteRange?
    /// When it expires.
    public var expires: Wall
}

/// An event of a publisher, with the publisher's whole state after it.
///
/// Self-contained: names and texts are in `Effects.bytes`, devices in `Effects.devices`, so that
/// later changes of the engine do not affect it.
public struct Event: Hashable, Sendable {
    /// The type.
    public var type: EventType
    /// The publisher's name.
    public var publisher: ByteRange
    /// What happened (or the state's value).
    public var value: Int32
    /// The cause.
    public var cause: Cause
    /// Rises with every event of a publisher and type, also over a restart.
    public var seq: UInt64
    /// When it happened.
    public var time: Wall
    /// The session that caused it; nil if there is none.
    public var origin: DeviceEntry?
    /// The text of a `publish`.
    public var ext: ByteRange?
    /// Every session in order of login, as a range of `Effects.devices`; nil for types that
    /// are not about presence.
    public var online: Range<Int>?
    /// The custom status in force.
    public var status: StatusEntry?
    /// The devices that the receivers could see before, as a range of `Effects.devices`; of an
    /// event of cause `hidden` only.
    public var withdrawn: Range<Int>?
    /// When the last session ended; nil while online, when never seen, and for other types.
    public var lastSeen: Wall?
}
