import PresenceCore

/// The requests of XMPP clients to each other (iqs of type `get` and `set`) that are not answered
/// yet, by the slot of the client that has sent them. Their answers are handed on whatever others
/// have sent it.
struct RelayedRequests {
    private struct Request: Equatable {
        /// Whose answer it is.
        let asked: ConnectionID
        /// Of the id of the iq.
        let hash: Int
    }

    private var requests: [UInt32: [Request]] = [:]

    /// Of one client; beyond, the oldest is forgotten.
    static let countMax = 512

    /// A client has asked another.
    mutating func add(_ id: [UInt8], from asker: ConnectionID, to asked: ConnectionID) {
        var list = requests.removeValue(forKey: asker.slot) ?? []
        if list.count == Self.countMax { list.removeFirst() }
        list.append(Request(asked: asked, hash: id.hashValue))
        requests[asker.slot] = list
    }

    /// Takes the request that an iq answers. Returns whether there is one.
    mutating func take(_ id: [UInt8], from asker: ConnectionID, to asked: ConnectionID) -> Bool {
        guard var list = requests[asker.slot],
            let place = list.firstIndex(of: Request(asked: asked, hash: id.hashValue))
        else { return false }
        list.remove(at: place)
        requests[asker.slot] = list.isEmpty ? nil : list
        return true
    }

    /// The connection in a slot is closed.
    mutating func remove(_ slot: UInt32) {
        if !requests.isEmpty { requests[slot] = nil }
    }
}
