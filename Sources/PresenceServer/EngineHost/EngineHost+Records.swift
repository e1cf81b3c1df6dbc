import PresenceCore
import PresenceStore

// Records become writes: numbers become names again, for another thread to read.

extension EngineHost {
    func write(for record: Record) -> Write {
        switch record {
        case .putSubscriptions(let subscriber, let type, let publishers, let created, let expires):
            return .putSubscriptions(
                subscriber: name(subscriber), type: type.number, publishers: names(publishers),
                created: created.milliseconds, expires: expires.milliseconds)
        case .removeSubscriptions(let subscriber, let type, let publishers):
            return .removeSubscriptions(
                subscriber: name(subscriber), type: type.number, publishers: names(publishers))
        case .removeAllSubscriptions(let subscriber, let type):
            return .removeAllSubscriptions(subscriber: name(subscriber), type: type.number)
        case .putStatus(let status):
            return .putStatus(row(status))
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
        case .reserveSequence(let end):
            return .reserveSequence(upTo: Int64(clamping: end))
        }
    }

    private func row(_ status: StatusRecord) -> StatusRow {
        var row = StatusRow(account: name(status.account), type: status.type.number)
        row.value = status.value
        row.ext = status.ext.map { bytes($0) }
        row.kept = status.audience == .everybody
        row.expires = status.expires.milliseconds
        return row
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

    private func row(_ relation: RelationRecord) -> RelationRow {
        var row = RelationRow(owner: name(relation.owner), contact: name(relation.contact))
        row.state = relation.seen.rawValue
        row.isListed = relation.isListed
        row.approvesBefore = relation.approvesBefore
        row.label = relation.label.bytes
        row.requestText = relation.request.text
        row.requestExtra = relation.request.extra
        return row
    }

    private func name(_ account: AccountHandle) -> [UInt8] {
        var name: [UInt8] = []
        engine.appendName(of: account, to: &name)
        return name
    }

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
