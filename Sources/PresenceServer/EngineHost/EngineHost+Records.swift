import PresenceCore
import PresenceStore

// Records become writes: numbers become names again, for another thread to read.

extension EngineHost {
    func write(for record: Record) -> Write {
        switch record {
        case .putSubscriptions(let subscriber, let request, let created, let expires):
            return .putSubscriptions(
                subscriber: name(subscriber), type: request.type.number,
                publishers: names(request.publishers), created: created.milliseconds,
                expires: expires.milliseconds)
        case .removeSubscriptions(let subscriber, let request):
            let (subscriber, type) = (name(subscriber), request.type.number)
            guard let publishers = request.publishers else {
                return .removeAllSubscriptions(subscriber: subscriber, type: type)
            }
            return .removeSubscriptions(
                subscriber: subscriber, type: type, publishers: names(publishers))
        case .putStatus(let account, let status, let expires):
            var row = StatusRow(account: name(account), type: status.type.number)
            row.value = status.value
            row.ext = status.ext.map { bytes($0) }
            row.kept = status.audience == .everybody
            row.expires = expires.milliseconds
            return .putStatus(row)
        case .removeStatus(let account, let type):
            return .removeStatus(account: name(account), type: type.number)
        case .putSession(let session):
            return .putSession(row(session))
        case .updateSession(let session):
            return .updateSession(row(session))
        case .removeSession(let account, let device):
            return .removeSession(account: name(account), device: bytes(device))
        case .putAccount(let account, let value, let lastSeen):
            return .putAccount(
                AccountRow(name: name(account), value: value, lastSeen: lastSeen.milliseconds))
        case .removeAccount(let account):
            return .removeAccount(name(account))
        case .putRelations(let relations):
            return .putRelations(relations.map { row($0) })
        case .putVisibility(let account, let visibility):
            return .putVisibility(account: name(account), visibility?.rawValue)
        case .putDevice(let device, let owner):
            return .putDevice(row(device), takingFrom: owner.map { row($0) })
        case .removeDevice(let account, let device):
            return .removeDevice(account: name(account), device: bytes(device))
        case .putMessage(let message):
            return .putMessage(content(of: message), recipients: rows(of: message))
        case .removeMessages(let keys): return .removeMessages(keys.map { row($0) })
        case .takeMessages(let keys): return .takeMessages(keys.map { row($0) })
        case .handOver(let records):
            return .handOver(records.map { row($0) })
        case .reserveSequence(let end):
            return .reserveSequence(upTo: Int64(clamping: end))
        }
    }

    private func row(_ session: SessionRecord) -> SessionRow {
        var row = SessionRow(account: name(session.account), device: bytes(session.device))
        row.client = session.client.rawValue
        row.push = session.reach == .push
        row.pushUntil = session.pushUntil?.milliseconds ?? 0
        row.loggedIn = session.loggedIn.milliseconds
        row.ordinal = Int64(clamping: session.session.ordinal)
        row.address = bytes(session.address)
        if let availability = session.availability {
            row.availability.show = availability.show.rawValue
            row.availability.priority = availability.priority
            row.availability.text = availability.text
            row.availability.language = availability.language
            row.availability.extra = availability.extra
        }
        return row
    }

    private func row(_ device: DeviceRecord) -> DeviceRow {
        var row = DeviceRow(account: name(device.account), device: bytes(device.device))
        row.alias = device.labels.alias
        row.tags = device.labels.storedTags
        row.pushAddress = device.labels.pushAddress
        row.updated = device.updated.milliseconds
        return row
    }

    private func row(_ relation: RelationRecord) -> RelationRow {
        var row = RelationRow(owner: name(relation.owner), contact: name(relation.contact))
        row.state = relation.side.seen.rawValue
        row.isListed = relation.side.isListed
        row.approvesBefore = relation.side.approvesBefore
        row.label = relation.side.label.bytes
        row.requestText = relation.side.request.text
        row.requestExtra = relation.side.request.extra
        return row
    }

    private func row(_ key: WaitingKey) -> MessageKey {
        MessageKey(id: Int64(clamping: key.message.number), place: key.place)
    }

    private func row(_ record: HandOverRecord) -> HandOverRow {
        HandOverRow(
            key: row(record.key),
            number: Int64(clamping: record.handOver.number), why: record.handOver.reason.rawValue)
    }

    private func content(of message: MessageRecord) -> MessageContentRow {
        var row = MessageContentRow(id: Int64(clamping: message.message.number))
        row.sender = message.sender.map { name($0) } ?? []
        row.senderDevice = message.senderDevice.map { bytes($0) } ?? []
        row.time = message.time.milliseconds
        row.body = bytes(message.body)
        row.ext = message.ext.map { bytes($0) }
        row.ref = message.ref.map { bytes($0) }
        if let stanza = message.stanza?.map({ bytes($0) }) {
            row.kind = Int(stanza.kind.rawValue)
            row.language = stanza.language
            row.addressed = stanza.addressed
            row.extra = stanza.extra
        }
        return row
    }

    private func rows(of message: MessageRecord) -> [MessageRow] {
        message.recipients.enumerated().map { place, recipient in
            var row = MessageRow(
                id: Int64(clamping: message.message.number), place: UInt16(place),
                account: name(recipient.account))
            row.device = recipient.device.map { bytes($0) } ?? []
            row.bytes = message.byteCount
            row.expires = message.expires.milliseconds
            row.isOfStranger = recipient.isOfStranger
            if let handOver = recipient.handOver {
                row.handOver = Int64(clamping: handOver.number)
                row.why = handOver.reason.rawValue
            }
            return row
        }
    }

    func name(_ account: AccountHandle) -> [UInt8] { engine.name(of: account) }

    private func names(_ accounts: [AccountHandle]) -> PackedNames {
        var bytes: [UInt8] = []
        var names = PackedNames(
            reservingNames: accounts.count, bytes: 16 * accounts.count)
        for account in accounts {
            bytes.removeAll(keepingCapacity: true)
            engine.appendName(of: account, to: &bytes)
            names.append(bytes)
        }
        return names
    }

    private func bytes(_ range: ByteRange) -> [UInt8] {
        let start = Int(range.start)
        return [UInt8](output.shared.effects.bytes[start..<start + Int(range.count)])
    }
}
