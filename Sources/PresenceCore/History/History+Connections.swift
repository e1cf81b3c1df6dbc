import Containers

/// A session's connection that has ended: 72 bytes.
struct ConnectionNote {
    /// The session; its number is later than all that happened before it.
    let session: SessionID
    /// The last number assigned when it ended.
    let endSeq: UInt64
    /// The last number assigned when its login list was complete; the highest if it never was.
    let listedSeq: UInt64
    let loggedIn: Wall
    let lastHeard: Wall
    let ended: Wall
    let device: SlabRef
    let account: HistoryAccount
    /// Bytes that it was sent and had not accepted.
    let unsentBytes: UInt32
    let client: ClientKind
    let list: LoginList
    let end: ConnectionEnd
}

/// A time in which a connection did not accept its events: 40 bytes.
struct DelayNote {
    let session: SessionID
    /// The first event that was dropped.
    let fromSeq: UInt64
    let from: Wall
    /// The last number assigned when the newest states had been sent; the highest if they have not.
    var toSeq = UInt64.max
    var to = Wall(milliseconds: 0)
}

extension History {
    /// Records the end of a connection.
    mutating func note(_ connection: ConnectionNote) {
        if let old = connections.append(connection).overwritten { devices.remove(old.device) }
    }

    /// Since when all ends of connections are known.
    var connectionsSince: Wall { connections.oldestLeft?.ended ?? begun }

    /// Since when all times of being behind are known.
    var delaysSince: Wall { delays.oldestLeft?.from ?? begun }
}
