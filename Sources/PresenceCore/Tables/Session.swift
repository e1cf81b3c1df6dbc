import Containers

/// A login of an account on one device, connected or not.
struct Session {
    /// Which login it is.
    var id: SessionID
    /// When it logged in.
    var loggedIn: Wall
    /// When it was last heard; kept up to date only once the connection is gone.
    var lastHeard: Wall
    /// Whose.
    var account: UInt32
    /// Fires when the present phase ends; none while connected.
    var timer = TimerID.none
    /// The device's name.
    var device: SlabRef
    /// Where the connection comes, or came, from.
    var address: SlabRef
    /// The number given out last when the login list was complete; the highest: it is not.
    var listedSeq = UInt64.max
    /// The states sent so far by a login list that is not complete.
    var listedCount: UInt32 = 0
    /// What the session runs in.
    var client: ClientKind
    /// How it can be reached without its connection.
    var reach: Reach
    /// Which states its login list has.
    var list = LoginList.none
    /// Whether there is a connection, and if not, what is waited for.
    var phase: Phase

    /// Whether there is a connection, and if not, what is waited for.
    enum Phase: UInt8, CaseIterable {
        /// There is. To: `inGrace` when it is lost; ended by logout or kick. In every other phase
        /// the session also ends when it gives way to a new one.
        case connected
        /// Lost a moment ago. To: `connected`, `pushOnly`, or ended as a disconnect.
        case inGrace
        /// Only push reaches the device. To: `connected`, or ended as a disconnect.
        case pushOnly
        /// The service has restarted. To: `connected`, `pushOnly`, or ended as a restart.
        case awaitingReturn
    }
}

/// The part of a session that a fan-out reads: 12 bytes, apart from the rest.
struct SessionLink {
    /// The account's next session in order of login; `none` at the end.
    var next: UInt32
    /// The slot of the connection; `none` while there is none.
    var connection: UInt32
    /// Events of topics before this one are delivered. Those of the others will be in the
    /// login list, which is still being sent; `none`: the list is complete.
    var listedBelow: UInt32
}

/// A connection that has logged in.
struct Connection {
    /// Distinguishes the connections that had this slot.
    var generation: UInt32
    /// Who is at the other end.
    var peer: Peer
    /// When something last came in.
    var lastHeard: Mono
    /// Fires when the peer may have been silent for too long.
    var timer: TimerID
    /// Requests that wait for the store. Its owner does not read from the connection
    /// meanwhile, so that silence says nothing.
    var requestsWaiting: UInt32 = 0

    /// Who is at the other end of a connection.
    enum Peer {
        case nobody
        /// A session of an account, by its slot.
        case client(UInt32)
        case appServer
    }
}
