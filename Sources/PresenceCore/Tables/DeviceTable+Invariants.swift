import Containers

extension DeviceTable {
    /// Traps unless both sides agree: the labels of devices, and the members of labels. O(labels);
    /// for tests.
    func checkInvariants() {
        names.checkInvariants()
        var deviceCount = 0
        var found = 0
        var bytes = 0
        for (account, numbers) in accounts.entries {
            precondition(!numbers.isEmpty, "an account without devices")
            for (number, next) in zip(numbers, numbers.dropFirst()) {
                precondition(
                    devices[number].name.lexicographicallyPrecedes(devices[next].name),
                    "devices out of order, or twice")
            }
            for number in numbers {
                precondition(devices[number].account == account, "a device of another account")
                check(devices[number], number)
                found += devices[number].memberships.count
                bytes += devices[number].name.count + devices[number].pushAddress.count
            }
            deviceCount += numbers.count
        }
        for (endpoint, number) in owners {
            precondition(
                PushEndpoint.of(devices[number].pushAddress) == endpoint, "an owner of nothing")
        }
        precondition(
            owners.count == devices.elements.count { !$0.pushAddress.isEmpty },
            "a push address that several devices have, or none")
        precondition(deviceCount == devices.count, "a device of no account")
        precondition(
            members.reduce(0) { $0 + $1.count } == found, "a member without the label")
        precondition(found == membershipCount && bytes == textBytes, "miscounted devices")
        var labels = Set<UInt32>()
        for number in members.indices where !members[number].isEmpty {
            labels.insert(UInt32(number) >> 1)
        }
        precondition(labels.count == names.count, "the name of no label")
        precondition(labels.allSatisfy { names.contains($0) }, "a label without a name")
        precondition(
            deviceCount > 0 || devices.elements.isEmpty && members.isEmpty,
            "an empty table that uses memory")
    }

    private func check(_ device: Device, _ number: UInt32) {
        precondition(
            !device.memberships.isEmpty || !device.pushAddress.isEmpty, "a device with nothing")
        for (membership, next) in zip(device.memberships, device.memberships.dropFirst()) {
            precondition(membership.label < next.label, "labels out of order, or twice")
        }
        for membership in device.memberships {
            precondition(
                members[membership.label.index][Int(membership.place)] == number,
                "a label that does not have its member")
        }
        precondition(device.memberships.count { $0.label.isAlias } <= 1, "two aliases")
    }
}
