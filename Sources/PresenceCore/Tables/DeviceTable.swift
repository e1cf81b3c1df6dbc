// Theory of operation.
//
// A label is an alias or a tag, and a number: the handle of its name, times two, and one more if it
// is an alias. `members` has the devices of each label, in no order. A device has its labels in the
// order of their numbers, each with the place of the device among the members, so that a device
// joins and leaves a label in O(1), however many devices have it; and whether it has a label is
// found in its own list, of at most 101. So the members of one label are walked and the other
// labels of a request are only looked up.

import Containers

/// Labels and push addresses of devices, by account and device, and the devices by label.
///
/// Only devices that have something are in it. It knows nothing of sessions. Results depend on the
/// order of the calls alone.
struct DeviceTable: ~Copyable {
    /// The devices of each account, in the order of their names.
    private(set) var accounts = PartedDictionary<UInt32, [UInt32]>()
    private(set) var devices = Slab<Device>()
    /// The names of labels.
    private(set) var names: NameTable
    /// The device that has a push address; by where that leads.
    private(set) var owners: [[UInt8]: UInt32] = [:]
    /// The devices that have a label; by label.
    private(set) var members = ChunkedArray<[UInt32]>()
    /// Of the names and push addresses of devices.
    private(set) var textBytes = 0
    private(set) var membershipCount = 0
    private let seed: UInt64

    struct Device {
        var account: UInt32
        var name: [UInt8]
        var pushAddress: [UInt8] = []
        /// In the order of the labels.
        var memberships: [Membership] = []
        var updated = Wall(milliseconds: 0)
    }

    struct Membership {
        let label: Label
        /// The place of the device in `members`.
        var place: UInt32
    }

    /// An alias or a tag.
    struct Label: Comparable {
        private let number: UInt32

        init(_ name: UInt32, isAlias: Bool) {
            precondition(name <= UInt32.max / 2, "more labels than can be numbered")
            number = name << 1 | (isAlias ? 1 : 0)
        }

        var index: Int { Int(number) }
        var name: UInt32 { number >> 1 }
        var isAlias: Bool { number & 1 == 1 }

        static func < (lhs: Self, rhs: Self) -> Bool { lhs.number < rhs.number }
    }

    /// An empty table. `seed` keys the hash of names; no result depends on it.
    init(seed: UInt64) {
        self.seed = seed
        names = NameTable(seed: seed)
    }

    /// How many devices have something.
    var count: Int { devices.count }

    /// The memory that they use, about. O(1).
    var byteCount: Int {
        count * MemoryLayout<Device>.stride + textBytes + names.bytesReserved
            + membershipCount * (MemoryLayout<Membership>.stride + MemoryLayout<UInt32>.stride)
    }

    /// Whether a device of an account has something. O(1).
    @inline(__always)
    func mention(_ account: UInt32) -> Bool { !accounts.isEmpty && accounts[account] != nil }

    /// What a device has.
    func labels(of account: AccountHandle, on device: [UInt8]) -> DeviceLabels {
        find(device, of: account.index).map { labels(of: $0) } ?? .none
    }

    /// The devices of an account that have something, in the order of their names.
    func devices(of account: AccountHandle) -> [LabelledDevice] {
        (accounts[account.index] ?? []).map { number in
            LabelledDevice(
                name: devices[number].name, labels: labels(of: number),
                updated: devices[number].updated)
        }
    }

    /// When a device of an account was set last; nil: none has something.
    func lastUpdate(of account: UInt32) -> Wall? {
        guard mention(account) else { return nil }
        return accounts[account]?.map { devices[$0].updated }.max()
    }

    /// The devices to forget when a device of an account is set, so that the account keeps at most
    /// `devicesPerAccountMax`: those set longest ago that have no session. There may be too few of
    /// them: then the account has more, at most as many as it may have sessions.
    func surplus(
        of account: AccountHandle, setting device: [UInt8], hasSession: ([UInt8]) -> Bool
    ) -> [[UInt8]] {
        let others = (accounts[account.index] ?? []).filter { devices[$0].name != device }
        let count = others.count + 1 - Limits.devicesPerAccountMax
        guard count > 0 else { return [] }
        // Those set at the same time are in the order of their names, as in the store.
        let candidates = others.filter { !hasSession(devices[$0].name) }
            .sorted { devices[$0].updated < devices[$1].updated }
        return candidates.prefix(count).map { devices[$0].name }
    }

    /// The other device that has a push address which leads to the same place; nil if there is
    /// none. O(bytes of the address).
    func owner(
        of address: [UInt8], besides device: [UInt8], of account: AccountHandle
    ) -> DeviceAddress? {
        guard let endpoint = PushEndpoint.of(address), let number = owners[endpoint] else {
            return nil
        }
        let owner = devices[number]
        guard owner.account != account.index || owner.name != device else { return nil }
        return DeviceAddress(account: AccountHandle(index: owner.account), device: owner.name)
    }

    /// When a device was set last; nil: it has nothing.
    func updated(of account: AccountHandle, on device: [UInt8]) -> Wall? {
        find(device, of: account.index).map { devices[$0].updated }
    }

    // MARK: Changes

    /// Sets what a device has. One that has nothing is forgotten. Its push address is taken from
    /// the device that had it. O(labels of the device).
    mutating func set(
        _ labels: DeviceLabels, of account: AccountHandle, on device: [UInt8], at now: Wall
    ) {
        guard !labels.isEmpty else { return remove(device, of: account) }
        if let owner = owner(of: labels.pushAddress, besides: device, of: account) {
            takeAddress(of: owner)
        }
        let number = find(device, of: account.index) ?? insert(device, of: account.index)
        setAddress(labels.pushAddress, of: number)
        devices[number].updated = now
        setMemberships(labels, of: number)
    }

    private mutating func takeAddress(of owner: DeviceAddress) {
        let left = labels(of: owner.account, on: owner.device).withoutAddress
        guard let number = find(owner.device, of: owner.account.index), !left.isEmpty else {
            return remove(owner.device, of: owner.account)
        }
        setAddress([], of: number)
    }

    private mutating func setAddress(_ address: [UInt8], of number: UInt32) {
        if let endpoint = PushEndpoint.of(devices[number].pushAddress) { owners[endpoint] = nil }
        textBytes += address.count - devices[number].pushAddress.count
        devices[number].pushAddress = address
        if let endpoint = PushEndpoint.of(address) { owners[endpoint] = number }
    }

    /// Forgets a device.
    mutating func remove(_ device: [UInt8], of account: AccountHandle) {
        guard let number = find(device, of: account.index) else { return }
        setMemberships(.none, of: number)
        setAddress([], of: number)
        accounts[account.index]?.removeAll { $0 == number }
        if accounts[account.index]?.isEmpty == true { accounts[account.index] = nil }
        textBytes -= devices[number].name.count
        devices[number] = Device(account: none, name: [])
        devices.remove(number)
        // An empty table uses no memory.
        if devices.count == 0 { self = DeviceTable(seed: seed) }
    }

    /// Forgets the devices of an account, and returns their names.
    mutating func removeAll(of account: AccountHandle) -> [[UInt8]] {
        let names = devices(of: account).map(\.name)
        for name in names { remove(name, of: account) }
        return names
    }

    private mutating func insert(_ device: [UInt8], of account: UInt32) -> UInt32 {
        var list = accounts.removeValue(forKey: account) ?? []
        let place = list.partitionPoint { devices[$0].name.lexicographicallyPrecedes(device) }
        let number = devices.insert(Device(account: account, name: device))
        textBytes += device.count
        list.insert(number, at: place)
        accounts[account] = list
        return number
    }

    private mutating func setMemberships(_ labels: DeviceLabels, of number: UInt32) {
        // New names first, so that one that stays keeps its number.
        var wanted = labels.tags.map { Label(names.intern($0.span), isAlias: false) }
        if !labels.alias.isEmpty {
            wanted.append(Label(names.intern(labels.alias.span), isAlias: true))
        }
        wanted.sort()
        let before = devices[number].memberships
        var memberships: [Membership] = []
        memberships.reserveCapacity(wanted.count)
        for label in wanted {
            memberships.append(before.membership(label) ?? join(number, label))
        }
        devices[number].memberships = memberships
        for membership in before where memberships.membership(membership.label) == nil {
            leave(membership)
        }
    }

    private mutating func join(_ number: UInt32, _ label: Label) -> Membership {
        while members.count <= label.index { members.append([]) }
        members[label.index].reserveEighth()
        members[label.index].append(number)
        membershipCount += 1
        return Membership(label: label, place: UInt32(members[label.index].count - 1))
    }

    /// Removes a device from a label: the last member takes its place.
    private mutating func leave(_ membership: Membership) {
        let label = membership.label
        membershipCount -= 1
        guard let last = members[label.index].popLast() else {
            preconditionFailure("a device that is no member of its label")
        }
        if Int(membership.place) < members[label.index].count {
            members[label.index][Int(membership.place)] = last
            devices[last].memberships.move(label, to: membership.place)
        }
        guard members[label.index].isEmpty else { return }
        members[label.index] = []
        if memberCount(Label(label.name, isAlias: !label.isAlias)) == 0 { names.remove(label.name) }
    }

    // MARK: Reading

    private func find(_ device: [UInt8], of account: UInt32) -> UInt32? {
        accounts[account]?.first { devices[$0].name == device }
    }

    /// How many devices have a label. O(1).
    func memberCount(_ label: Label) -> Int {
        label.index < members.count ? members[label.index].count : 0
    }

    private func labels(of number: UInt32) -> DeviceLabels {
        let memberships = devices[number].memberships
        let alias = memberships.first { $0.label.isAlias }
        return DeviceLabels(
            alias: alias.map { names.bytes(of: $0.label.name) } ?? [],
            tags: memberships.filter { !$0.label.isAlias }.map { names.bytes(of: $0.label.name) },
            pushAddress: devices[number].pushAddress)
    }
}

/// A device that has something.
struct LabelledDevice: Equatable {
    let name: [UInt8]
    let labels: DeviceLabels
    /// When it was set last.
    let updated: Wall
}

extension [DeviceTable.Membership] {
    /// The place of a label in this list, or where it would be.
    private func place(of label: DeviceTable.Label) -> Int {
        partitionPoint { $0.label < label }
    }

    /// That of a label; nil: the device does not have it. O(log n).
    func membership(_ label: DeviceTable.Label) -> DeviceTable.Membership? {
        let place = place(of: label)
        return place < count && self[place].label == label ? self[place] : nil
    }

    /// The device has another place among the members of a label.
    fileprivate mutating func move(_ label: DeviceTable.Label, to place: UInt32) {
        let index = self.place(of: label)
        precondition(index < count && self[index].label == label, "a member without the label")
        self[index].place = place
    }
}
