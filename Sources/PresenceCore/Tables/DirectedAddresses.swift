import Containers

/// The addresses to which sessions have presented themselves besides their subscribers, and which
/// are to be sent the end. By session, and only for those that have done so.
struct DirectedAddresses {
    /// An account, or a device of it. By name: accounts that do not exist need no number.
    struct Address: Hashable {
        let account: [UInt8]
        /// Nil: the account.
        let device: [UInt8]?
    }

    /// Some of the addresses of a session.
    enum Scope {
        case all
        /// Those that its present connection has not addressed.
        case inherited
    }

    private struct Entry {
        let address: Address
        /// Whether it was addressed by a former connection of the device only.
        var isInherited = false
    }

    private var entries = PartedDictionary<UInt32, [Entry]>()
    /// The sessions that have presented themselves to single subscribers since all subscribers were
    /// last sent the same.
    private var shownOtherwise: Set<UInt32> = []

    /// How many addresses each session has that has any.
    var counts: [(session: UInt32, count: Int)] {
        entries.entries.map { ($0.key, $0.value.count) }
    }

    var isEmpty: Bool { entries.isEmpty && shownOtherwise.isEmpty }

    /// Those of a session.
    subscript(session: UInt32) -> [Address] {
        entries.isEmpty ? [] : entries[session]?.map(\.address) ?? []
    }

    /// Whether a session has an address, or room for it.
    func hasRoom(for address: Address, of session: UInt32) -> Bool {
        guard let known = entries[session] else { return true }
        return known.count < Limits.directedAddressesMax
            || known.contains { $0.address == address }
    }

    /// Keeps an address that the present connection of a session has addressed.
    mutating func insert(_ address: Address, of session: UInt32) {
        precondition(hasRoom(for: address, of: session), "addresses beyond the limit")
        if let place = entries[session]?.firstIndex(where: { $0.address == address }) {
            entries[session]?[place].isInherited = false
        } else {
            entries[session, default: []].append(Entry(address: address))
        }
    }

    /// Removes an address of a session; returns whether it had it.
    mutating func remove(_ address: Address, of session: UInt32) -> Bool {
        removeEntries(of: session) { $0.address == address }.first != nil
    }

    /// Removes those of a session, or some of them.
    mutating func remove(_ scope: Scope, of session: UInt32) -> [Address] {
        if scope == .all { noteShownAlike(session) }
        return removeEntries(of: session) { scope == .all || $0.isInherited }
    }

    private mutating func removeEntries(
        of session: UInt32, where isRemoved: (Entry) -> Bool
    ) -> [Address] {
        guard !entries.isEmpty, let known = entries[session] else { return [] }
        let left = known.filter { !isRemoved($0) }
        entries[session] = left.isEmpty ? nil : left
        return known.filter(isRemoved).map(\.address)
    }

    /// Some subscribers may be shown a session in another way than all were.
    mutating func noteShownOtherwise(_ session: UInt32) { shownOtherwise.insert(session) }

    /// All subscribers are sent how a session presents itself. Returns whether some may have been
    /// shown it otherwise.
    @discardableResult
    mutating func noteShownAlike(_ session: UInt32) -> Bool {
        !shownOtherwise.isEmpty && shownOtherwise.remove(session) != nil
    }

    /// The device of a session has another connection, which has not addressed any of them.
    mutating func inherit(_ session: UInt32) {
        guard let count = entries[session]?.count else { return }
        for place in 0..<count { entries[session]?[place].isInherited = true }
    }
}
