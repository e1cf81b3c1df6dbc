import Containers

/// To whom sessions have presented themselves besides their subscribers: who is to be told that a
/// session is gone. By session, and only for those that have done so.
struct DirectedAddresses {
    /// An account, or a device of it. By name: accounts that do not exist need no number.
    struct Address {
        let account: SlabRef
        /// `none`: the account.
        let device: SlabRef
    }

    private var addresses: [UInt32: [Address]] = [:]

    /// How many addresses each session has that has any.
    var counts: [UInt32: Int] { addresses.mapValues(\.count) }

    var isEmpty: Bool { addresses.isEmpty }

    /// Those of a session.
    subscript(session: UInt32) -> [Address] {
        addresses.isEmpty ? [] : addresses[session] ?? []
    }

    mutating func append(_ address: Address, of session: UInt32) {
        addresses[session, default: []].append(address)
    }

    /// Removes one address of a session.
    mutating func remove(at place: Int, of session: UInt32) -> Address? {
        guard var left = addresses[session], left.indices.contains(place) else { return nil }
        let removed = left.remove(at: place)
        addresses[session] = left.isEmpty ? nil : left
        return removed
    }

    /// Removes those of a session.
    mutating func removeAll(of session: UInt32) -> [Address] {
        addresses.isEmpty ? [] : addresses.removeValue(forKey: session) ?? []
    }
}
