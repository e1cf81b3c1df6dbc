// Devices: their labels are the app's, and stay when their sessions have ended.
//
// A device is set in the table when the store has committed it: what a message or a list finds is
// on disk.

extension Engine {
    /// How many devices have labels or a push address.
    public var deviceCount: Int { devices.count }

    /// Restores what a device has. One that has nothing is left out.
    ///
    /// Databases of version 0.1 may have a push address at several devices: the one that was set
    /// last has it.
    public mutating func restoreDevice(
        of account: AccountHandle, on device: [UInt8], _ labels: DeviceLabels, updated: Wall
    ) {
        if let owner = devices.owner(of: labels.pushAddress, besides: device, of: account),
            let other = devices.updated(of: owner.account, on: owner.device), other >= updated
        {
            return devices.set(labels.withoutAddress, of: account, on: device, at: updated)
        }
        devices.set(labels, of: account, on: device, at: updated)
    }

    // MARK: Changes

    /// What a request changes, after the checks that do not depend on what the device has: so a
    /// change that waits is no longer than the limits allow, but for its push address.
    func deviceChange(
        _ request: SetDevice, _ texts: TextSource, of command: AuthorisedCommand
    ) throws(Rejection) -> Change {
        let device = try device(request.device, texts, of: command)
        if command.isOfClient, settings.deviceLabels == .appServers {
            if request.alias != nil { throw Rejection(.forbidden, field: .alias) }
            if request.tags != nil { throw Rejection(.forbidden, field: .tags) }
        }
        var change = DeviceChange(
            alias: request.alias.map { texts.bytes($0) },
            tags: request.tags.map { texts.names($0).map { texts.bytes($0) } },
            pushAddress: request.pushAddress.map { texts.bytes($0) },
            ifPushAddress: request.ifPushAddress.map { texts.bytes($0) })
        try change.checkParts()
        change.tags = change.tags.map { Array(Set($0)) }
        return .setDevice(device, change)
    }

    /// The device that is set: that of the session, or the one that an app server names.
    private func device(
        _ name: ByteRange?, _ texts: TextSource, of command: AuthorisedCommand
    ) throws(Rejection) -> [UInt8] {
        guard case .client(let session, _) = command.caller else {
            guard let name else { throw Rejection(.missingField, field: .device) }
            return texts.bytes(name)
        }
        let own = strings.bytes(of: sessions[session].device)
        if let name, texts.bytes(name) != own { throw Rejection(.forbidden, field: .device) }
        return own
    }

    /// Where the push addresses lead that a change needs for itself: the one that the device has,
    /// and the one that it is given.
    func endpoints(of change: Change, _ account: AccountHandle) -> [[UInt8]] {
        guard case .setDevice(let device, let change) = change else { return [] }
        let addresses = [
            devices.labels(of: account, on: device).pushAddress, change.pushAddress ?? [],
        ]
        return Array(Set(addresses.compactMap { PushEndpoint.of($0) }))
    }

    /// Has the labels and the push address of a device stored; nothing if it has another address
    /// than the request says.
    mutating func setDevice(
        _ device: [UInt8], of account: AccountHandle, _ change: DeviceChange,
        from connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        try checkPublishPace(of: account, at: now)
        let before = devices.labels(of: account, on: device)
        let after = try change.applied(to: before)
        let name = effects.copy(device)
        guard change.ifPushAddress == nil || change.ifPushAddress == before.pushAddress else {
            effects.answer(connection, .deviceSet(effects.labelled.count))
            return effects.labelled.append(LabelledEntry(device: name, labels: before))
        }
        let record: Record =
            after.isEmpty
            ? .removeDevice(account: account, device: name)
            : .putDevice(
                DeviceRecord(account: account, device: name, labels: after, updated: now.wall),
                takingFrom: owner(of: after.pushAddress, besides: device, of: account, &effects))
        propose(
            .setDevice(device, change), record, of: account, for: connection,
            endpoints: endpoints(of: .setDevice(device, change), account), at: now,
            into: &effects)
    }

    /// What the device keeps that has a push address which another is given.
    private func owner(
        of address: [UInt8], besides device: [UInt8], of account: AccountHandle,
        _ effects: inout Effects
    ) -> DeviceRecord? {
        guard let owner = devices.owner(of: address, besides: device, of: account),
            let updated = devices.updated(of: owner.account, on: owner.device)
        else { return nil }
        return DeviceRecord(
            account: owner.account, device: effects.copy(owner.device),
            labels: devices.labels(of: owner.account, on: owner.device).withoutAddress,
            updated: updated)
    }

    /// Applies what has been stored, and forgets the devices for which there is no room any more.
    mutating func applyDevice(
        _ pending: PendingChange, _ device: [UInt8], _ change: DeviceChange,
        into effects: inout Effects
    ) {
        let account = pending.account
        guard let after = try? change.applied(to: devices.labels(of: account, on: device)) else {
            preconditionFailure("a change that was checked, and is invalid now")
        }
        devices.set(after, of: account, on: device, at: pending.requested.wall)
        effects.answer(pending.connection, .deviceSet(effects.labelled.count))
        effects.labelled.append(LabelledEntry(device: effects.copy(device), labels: after))
        if !after.isEmpty { forgetSurplus(of: account, setting: device, into: &effects) }
    }

    private mutating func forgetSurplus(
        of account: AccountHandle, setting device: [UInt8], into effects: inout Effects
    ) {
        let connected = Set(
            allSessions(of: account).map { strings.bytes(of: sessions[$0].device) })
        let surplus = devices.surplus(of: account, setting: device) { connected.contains($0) }
        for name in surplus {
            devices.remove(name, of: account)
            effects.persist(.removeDevice(account: account, device: effects.copy(name)))
        }
    }

    // MARK: Lists

    /// The devices of an account that have something, by name.
    func listDevices(
        _ account: AccountHandle, _ connection: ConnectionID, into effects: inout Effects
    ) {
        let start = effects.labelled.count
        for device in devices.devices(of: account) {
            let session = session(of: account, on: device.name).map {
                LabelledEntry.Session(
                    client: sessions[$0].client, connection: sessions[$0].phase.connectedness)
            }
            effects.labelled.append(
                LabelledEntry(
                    device: effects.copy(device.name), labels: device.labels, session: session))
        }
        effects.answer(connection, .devices(start..<effects.labelled.count))
    }
}
