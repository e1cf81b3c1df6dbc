@testable import PresenceCore

extension World {
    /// What `connection` has seen since it had seen so much.
    func take(_ connection: ConnectionID, after count: Int) -> [Seen] {
        let all = seen[connection] ?? []
        seen[connection] = Array(all.prefix(count))
        return Array(all.dropFirst(count))
    }

    /// What `connection` has seen since the last call.
    func take(_ connection: ConnectionID) -> [Seen] {
        defer { seen[connection] = [] }
        return seen[connection] ?? []
    }

    /// What a record says, in a line.
    func words(_ record: Record, _ batch: Effects) -> String {
        switch record {
        case .putSubscriptions(let subscriber, let request, _, let expires):
            "put \(name(subscriber)) \(request.type.number) \(request.publishers.map(name))"
                + " \(expires.milliseconds)"
        case .removeSubscriptions(let subscriber, let request):
            if let publishers = request.publishers {
                "remove \(name(subscriber)) \(request.type.number) \(publishers.map(name))"
            } else {
                "remove all \(name(subscriber)) \(request.type.number)"
            }
        case .putStatus(let account, let status, _):
            "status \(name(account)) \(status.type.number) \(status.value)"
        case .removeStatus(let account, let type):
            "remove status \(name(account)) \(type.number)"
        case .putSession(let session), .updateSession(let session):
            "session \(name(session.account)) \(batch.text(session.device))"
                + (session.pushUntil == nil ? "" : " push")
        case .removeSession(let account, let device):
            "remove session \(name(account)) \(batch.text(device))"
        case .putAccount(let account, let value, _):
            "account \(name(account)) \(value)"
        case .removeAccount(let account):
            "forget \(name(account))"
        case .putDevice(let record, let owner):
            [record, owner].compactMap(\.self).map { record in
                let labels = record.labels
                return "device \(name(record.account)) \(batch.text(record.device)) "
                    + "\(labels.alias.count) \(labels.tags.count) "
                    + "\(labels.pushAddress.count) \(record.updated.milliseconds)"
            }.joined(separator: ", taking from ")
        case .removeDevice(let account, let device):
            "remove device \(name(account)) \(batch.text(device))"
        case .putMessage(let message):
            "message \(batch.text(message.body)) \(message.recipients.map { name($0.account) })"
        case .removeMessages(let keys):
            "remove \(keys.count) messages"
        case .takeMessages(let keys):
            "take \(keys.count) messages"
        case .handOver(let records):
            "hand over \(records.count) messages"
        case .putRelations(let relations):
            relations.map {
                let (side, owner) = ($0.side, $0.owner)
                let listed =
                    "\(side.isListed ? " listed" : "")\(side.approvesBefore ? " before" : "")"
                return "relation \(name(owner)) \(name($0.contact)) \(side.seen)\(listed)"
            }.joined(separator: ", ")
        case .putVisibility(let account, let visibility):
            "visibility \(name(account)) \(visibility.map { "\($0)" } ?? "default")"
        case .reserveSequence:
            "reserve"
        }
    }
}
