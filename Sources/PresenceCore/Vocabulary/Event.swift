/// Why an event came to be.
public enum Cause: UInt8, CaseIterable, Sendable {
    case login, logout, disconnect, publish, cleared, expired, kicked, restart
    /// A state; nothing happened.
    case sync
}

/// The values of type 1 that are the service's own.
public enum OwnValue {
    /// Nothing is known of the account.
    public static let unknown: Int32 = 0
    /// A session has begun.
    public static let login: Int32 = 1
    /// A session was ended on purpose.
    public static let logout: Int32 = 2
    /// A session was lost.
    public static let disconnect: Int32 = 3
}

/// Where bytes stand in `Effects.bytes`.
public struct ByteRange: Hashable, Sendable {
    /// The first byte's index.
    public var start: Int32
    /// How many bytes.
    public var count: Int32

    /// A range.
    public init(start: Int32, count: Int32) {
        self.start = start
        self.count = count
    }
}

/// A device in an event: its kind, its name (in `Effects.bytes`) and how it is reached.
public struct DeviceEntry: Hashable, Sendable {
    /// What it runs in.
    public var client: ClientKind
    /// Its name.
    public var name: ByteRange
    /// `push`: it is not connected; only push reaches it.
    public var reach: Reach

    /// A device.
    public init(client: ClientKind, name: ByteRange, reach: Reach) {
        self.client = client
        self.name = name
        self.reach = reach
    }
}

/// A custom status in force.
public struct StatusEntry: Hashable, Sendable {
    /// The app's value.
    public var value: Int32
    /// The app's text, in `Effects.bytes`; nil: none.
    public var ext: ByteRange?
    /// When it will be gone.
    public var expires: Wall

    /// A status.
    public init(value: Int32, ext: ByteRange?, expires: Wall) {
        self.value = value
        self.ext = ext
        self.expires = expires
    }
}

/// Something that happened to a publisher, together with the publisher's whole state after it.
///
/// Self-contained: names and texts stand in `Effects.bytes`, devices in `Effects.devices`,
/// so that it stays true however the engine goes on.
public struct Event: Hashable, Sendable {
    /// What kind of state it is about.
    public var type: EventType
    /// The publisher's name.
    public var publisher: ByteRange
    /// What happened (or the state's value).
    public var value: Int32
    /// Why.
    public var cause: Cause
    /// Rises with every event of a publisher and type, also over a restart.
    public var seq: UInt64
    /// When it happened.
    public var time: Wall
    /// The session that caused it; nil where none did.
    public var origin: DeviceEntry?
    /// The text of a `publish`.
    public var ext: ByteRange?
    /// Every session in order of login, as a range of `Effects.devices`; nil for types that
    /// are not about presence.
    public var online: Range<Int>?
    /// The custom status in force.
    public var status: StatusEntry?
    /// When the last session ended; nil while online, when never seen, and for other types.
    public var lastSeen: Wall?
}
