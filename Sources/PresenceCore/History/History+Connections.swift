import Containers

/// A session's connection that has ended: 72 bytes.
struct ConnectionNote {
    /// Which login it was; its number tells what came before it.
    let session: SessionID
    /// The number given out last when it ended.
    let endSeq: UInt64
    /// The number given out last when its login list was complete; the highest: it never was.
    let listedSeq: UInt64
    let loggedIn: Wall
    let lastHeard: Wall
    let ended: Wall
    let device: SlabRef
    let account: NotedAccount
    /// Bytes that it was sent and had not taken.
    let unsentBytes: UInt32
    let client: ClientKind
    let list: LoginList
    let end: ConnectionEnd
}

/// A time in which a connection did not take its events: 40 bytes.
struct DelayNote {
    let session: SessionID
    /// The first event that was left out.
    let fromSeq: UInt64
    let from: Wall
    /// The number given out last when the newest states had been sent; the highest: they have
    /// not.
    var toSeq = UInt64.max
    var to = Wall(milliseconds: 0)
}

extension History {
    /// Notes the end of a connection.
    mutating func note(_ connection: ConnectionNote) {
        if let old = connections.append(connection).overwritten { devices.remove(old.device) }
    }

    /// From when on all ends of connections are known.
    var connectionsSince: Wall { connections.oldestLeft?.ended ?? begun }

    /// From when on it is known who was behind.
    var delaysSince: Wall { delays.oldestLeft?.from ?? begun }
}
