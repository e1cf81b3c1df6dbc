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
    /// All of them, by the numbers of the accounts and then the names of the devices.
    case these([DeviceAddress])
    /// More than a limit: at least this number of them match, or have to be looked through.
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
    /// ends at one match too many. Without `tagsAll` and `tagsNot` that is O(tags × `matchesMax`);
    /// with them, all members may be walked without a match, and there must be at most `walkMax`.
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
            return .these([])
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
        guard largest <= matchesMax else {
            return .tooMany(atLeast: largest, limit: matchesMax)
        }
        return walk(labels, matchesMax: matchesMax) { _ in true }
    }

    /// Walks the members of several labels, each device once.
    private func walk(
        _ labels: [Label], matchesMax: Int, _ isMatch: ([Membership]) -> Bool
    ) -> DeviceMatches {
        var found: [DeviceAddress] = []
        for (position, label) in labels.enumerated() {
            for number in members[label.index] {
                let memberships = devices[number].memberships
                let isKnown = labels[..<position].contains { memberships.membership($0) != nil }
                guard !isKnown, isMatch(memberships) else { continue }
                guard found.count < matchesMax else {
                    return .tooMany(atLeast: matchesMax + 1, limit: matchesMax)
                }
                found.append(
                    DeviceAddress(
                        account: AccountHandle(index: devices[number].account),
                        device: devices[number].name))
            }
        }
        return .these(found.sorted { $0.precedes($1) })
    }
}

extension DeviceAddress {
    fileprivate func precedes(_ other: Self) -> Bool {
        account == other.account
            ? device.lexicographicallyPrecedes(other.device)
            : account.index < other.account.index
    }
}
