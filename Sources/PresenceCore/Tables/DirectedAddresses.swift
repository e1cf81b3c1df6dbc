import Containers

/// To whom sessions have presented themselves besides their subscribers: who is to be told that a
/// session is gone. By session, and only for those that have done so.
struct DirectedAddresses {
    /// An account, or a device of it. By name: accounts that do not exist need no number.
    struct Address {
        let account: SlabRef
        /// `none`: the account.
        let device: SlabRef
        /// Whether it was addressed by a former connection of the device only.
        var isInherited = false
    }

    /// Some of the addresses of a session.
    enum Scope {
        case all
        /// Those that its present connection has not addressed.
        case inherited
    }

    private var addresses: [UInt32: [Address]] = [:]
    /// The sessions that have presented themselves to single subscribers since all subscribers were
    /// last told how they do.
    private var shownOtherwise: Set<UInt32> = []

    /// How many addresses each session has that has any.
    var counts: [UInt32: Int] { addresses.mapValues(\.count) }

    var isEmpty: Bool { addresses.isEmpty && shownOtherwise.isEmpty }

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

    /// Removes those of a session, or some of them.
    mutating func remove(_ scope: Scope, of session: UInt32) -> [Address] {
        if scope == .all { noteShownAlike(session) }
        guard !addresses.isEmpty, let known = addresses.removeValue(forKey: session) else {
            return []
        }
        guard scope == .inherited else { return known }
        let left = known.filter { !$0.isInherited }
        if !left.isEmpty { addresses[session] = left }
        return known.filter(\.isInherited)
    }

    /// Some subscribers may be shown a session otherwise than all were.
    mutating func noteShownOtherwise(_ session: UInt32) { shownOtherwise.insert(session) }

    /// All subscribers are told how a session presents itself. Returns whether some may have been
    /// shown it otherwise.
    @discardableResult
    mutating func noteShownAlike(_ session: UInt32) -> Bool {
        !shownOtherwise.isEmpty && shownOtherwise.remove(session) != nil
    }

    /// The device of a session has another connection, which has not addressed any of them.
    mutating func inherit(_ session: UInt32) {
        guard !addresses.isEmpty, let count = addresses[session]?.count else { return }
        for place in 0..<count { addresses[session]?[place].isInherited = true }
    }

    /// The connection of a session has addressed one of them.
    mutating func renew(_ place: Int, of session: UInt32) {
        addresses[session]?[place].isInherited = false
    }
}
