import Containers

/// Devices by their tags: those with one of `tags`, all of `tagsAll` and none of `tagsNot`.
struct TagSelection {
    /// At least one of these; if there are none, `tagsAll` decides.
    var tags: [[UInt8]] = []
    /// All of these.
    var tagsAll: [[UInt8]] = []
    /// None of these.
    var tagsNot: [[UInt8]] = []
}

/// A device of an account.
struct DeviceAddress: Hashable {
    let account: AccountHandle
    let device: [UInt8]
}

/// The devices that a request selects.
enum DeviceMatches: Equatable {
    /// These, by the numbers of the accounts and then the names of the devices, and how many there
    /// are beyond the limit: of each account there is one, and of an account that has more than
    /// others those are left out first.
    case these([DeviceAddress], passedOver: Int)
    /// More accounts than the limit: at least this number of devices match, or have to be looked
    /// through.
    case tooMany(atLeast: Int, limit: Int)
}

extension DeviceTable {
    /// The devices with at least one of these aliases. O(aliases × `matchesMax`).
    func matches(aliases: [[UInt8]], matchesMax: Int) -> DeviceMatches {
        union(of: aliases.compactMap { label($0, isAlias: true) }, matchesMax: matchesMax)
    }

    /// The devices that tags select, of which there is at least one in `tags` or `tagsAll`.
    ///
    /// Walks the members of one tag of `tagsAll`, or of all of `tags`, whichever are fewer, and
    /// ends at one account too many, of which each has a bounded number of devices. Without
    /// `tagsAll` and `tagsNot` that is O(tags × `matchesMax`); with them, all members may be walked
    /// without a match, and there must be at most `walkMax`.
    func matches(
        _ selection: TagSelection, matchesMax: Int, walkMax: Int = Limits.devicesPerSelectionMax
    ) -> DeviceMatches {
        precondition(
            !selection.tags.isEmpty || !selection.tagsAll.isEmpty, "a selection by `tagsNot` alone")
        let any = selection.tags.compactMap { label($0, isAlias: false) }
        let all = selection.tagsAll.compactMap { label($0, isAlias: false) }
        let not = selection.tagsNot.compactMap { label($0, isAlias: false) }
        // A tag that no device has is not known.
        guard all.count == selection.tagsAll.count, selection.tags.isEmpty || !any.isEmpty else {
            return .these([], passedOver: 0)
        }
        guard !all.isEmpty || !not.isEmpty else { return union(of: any, matchesMax: matchesMax) }
        let rarest = all.min { memberCount($0) < memberCount($1) }
        let countOfAny = any.reduce(0) { $0 + memberCount($1) }
        let walked: [Label]
        if let rarest, any.isEmpty || memberCount(rarest) < countOfAny {
            walked = [rarest]
        } else {
            walked = any
        }
        let walkCount = walked.reduce(0) { $0 + memberCount($1) }
        guard walkCount <= walkMax else { return .tooMany(atLeast: walkCount, limit: walkMax) }
        return walk(walked, matchesMax: matchesMax) { memberships in
            all.allSatisfy { memberships.membership($0) != nil }
                && (any.isEmpty || any.contains { memberships.membership($0) != nil })
                && !not.contains { memberships.membership($0) != nil }
        }
    }

    private func label(_ name: [UInt8], isAlias: Bool) -> Label? {
        guard let name = names.find(name.span) else { return nil }
        let label = Label(name, isAlias: isAlias)
        return memberCount(label) > 0 ? label : nil
    }

    private func union(of labels: [Label], matchesMax: Int) -> DeviceMatches {
        let largest = labels.map { memberCount($0) }.max() ?? 0
        let matches = walk(labels, matchesMax: matchesMax) { _ in true }
        guard case .tooMany(let count, let limit) = matches else { return matches }
        return .tooMany(atLeast: max(count, largest), limit: limit)
    }

    /// Walks the members of several labels, each device once.
    private func walk(
        _ labels: [Label], matchesMax: Int, _ isMatch: ([Membership]) -> Bool
    ) -> DeviceMatches {
        var found: [DeviceAddress] = []
        var accounts: Set<UInt32> = []
        for (position, label) in labels.enumerated() {
            for number in members[label.index] {
                let memberships = devices[number].memberships
                let isKnown = labels[..<position].contains { memberships.membership($0) != nil }
                guard !isKnown, isMatch(memberships) else { continue }
                accounts.insert(devices[number].account)
                found.append(
                    DeviceAddress(
                        account: AccountHandle(index: devices[number].account),
                        device: devices[number].name))
                guard accounts.count <= matchesMax else {
                    return .tooMany(atLeast: found.count, limit: matchesMax)
                }
            }
        }
        found.sort { $0.precedes($1) }
        return .these(
            found.leastPerAccount(matchesMax), passedOver: max(0, found.count - matchesMax))
    }
}

extension [DeviceAddress] {
    /// At most this number of these, which are sorted: first one of each account, then a second one
    /// of those that have two, and so on; in their order.
    fileprivate func leastPerAccount(_ countMax: Int) -> [DeviceAddress] {
        guard count > countMax else { return self }
        var rank = 0
        var ranked: [(rank: Int, place: Int)] = []
        for place in indices {
            rank = place > 0 && self[place - 1].account == self[place].account ? rank + 1 : 0
            ranked.append((rank, place))
        }
        ranked.sort { $0 < $1 }
        return ranked.prefix(countMax).map(\.place).sorted().map { self[$0] }
    }
}

extension DeviceAddress {
    fileprivate func precedes(_ other: Self) -> Bool {
        account == other.account
            ? device.lexicographicallyPrecedes(other.device)
            : account.index < other.account.index
    }
}
