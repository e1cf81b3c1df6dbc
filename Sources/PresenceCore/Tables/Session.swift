import Containers

/// A login of an account on one device, connected or not.
struct Session {
    /// Its id.
    var id: SessionID
    /// When it logged in.
    var loggedIn: Wall
    /// When it was last heard; up to date only once the connection has ended, or after `noteHeard`.
    var lastHeard: Wall
    /// The last number when others began to see it, which they have since without a gap.
    var shownSince = SessionID(ordinal: 0)
    /// Its account.
    var account: UInt32
    /// Fires when the current phase ends; none while connected.
    var timer = TimerID.none
    /// The device's name.
    var device: SlabRef
    /// The address of its connection, or of its last one.
    var address: SlabRef
    /// The last number assigned when the login list was complete; the highest while it is not.
    var listedSeq = UInt64.max
    /// The last number assigned when it was sent states; it may know all devices from before.
    var statesSeq: UInt64 = 0
    /// How it presents itself: a number of `Engine.availabilities`; `none`: as available.
    var availability = none
    /// The states already sent by a login list that is not complete.
    var listedCount: UInt32 = 0
    /// The kind of its client.
    var client: ClientKind
    /// Whether push reaches it without its connection.
    var reach: Reach
    /// The states in its login list.
    var list = LoginList.none
    /// How often its device has connected again since it was last shown.
    var returnCount: UInt8 = 0
    /// Whether it is sent what changes on its account's list of contacts.
    var isInterested = false
    /// Whether its last connection that has ended was sent messages.
    var hasRead = false
    /// Whether it is connected, and if not, what it waits for.
    var phase: Phase

    /// So often its device may connect again and not be shown, and have a grace period each time.
    static let returnsMax: UInt8 = 3

    /// Whether a session is connected, and if not, what it waits for.
    enum Phase: UInt8, CaseIterable {
        /// Connected. To: `inGrace` when the connection is lost; ended by logout or kick. In every
        /// other phase the session also ends when a new one replaces it.
        case connected
        /// The connection was lost within the grace. To: `connected`, `pushOnly`, or ended as a
        /// disconnect.
        case inGrace
        /// Push-only. To: `connected`, or ended as a disconnect.
        case pushOnly
        /// The service has restarted. To: `connected`, `pushOnly`, or ended as a restart.
        case awaitingReturn
        /// Connected, and others do not see it. To: `connected`, or ended.
        case hidden
        /// Connected again, and has not shown itself again; others see it as before. To:
        /// `connected`, `hidden`, `inGrace`.
        case returning

        func mayBecome(_ next: Phase) -> Bool {
            switch next {
            case .connected: true
            case .returning: self != .hidden
            case .inGrace: self == .connected || self == .returning
            case .hidden: self == .connected || self == .returning
            case .pushOnly: self == .inGrace || self == .awaitingReturn
            case .awaitingReturn: false
            }
        }

        /// Whether it has a connection.
        var hasConnection: Bool {
            switch self {
            case .connected, .hidden, .returning: true
            case .inGrace, .pushOnly, .awaitingReturn: false
            }
        }

        /// Whether something happens when it has lasted long enough.
        var hasDeadline: Bool {
            switch self {
            case .connected, .hidden: false
            case .inGrace, .pushOnly, .awaitingReturn, .returning: true
            }
        }
    }
}

/// The part of a session that a fan-out reads: 16 bytes, apart from the rest.
struct SessionLink {
    /// The account's next session in order of login; `none` at the end.
    var next: UInt32
    /// The slot of the connection; `none` while there is none.
    var connection: UInt32
    /// The progress of its login list: events of the topics that this covers are delivered. It
    /// covers none while the session does not keep up, see `Conflation`.
    var cursor: ListCursor
    /// By which leases it is sent events.
    var hears: Leases
}

/// A slot of the table of connections.
struct ConnectionSlot {
    /// Distinguishes the connections that had this slot.
    var generation: UInt32
    /// The peer that is logged in on the connection.
    var peer: Peer

    /// The peer of a connection.
    enum Peer {
        /// None: the slot is free, or its connection has not logged in.
        case notLoggedIn
        /// A session of an account, by its slot.
        case client(UInt32)
        case appServer(AppServerRights)
    }
}
