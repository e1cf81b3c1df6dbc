import PresenceCore

/// What the store holds, by key.
struct Rows {
    struct TopicKey: Hashable {
        var account: [UInt8]
        var type: UInt16
    }

    struct EdgeKey: Hashable {
        var subscriber: [UInt8]
        var type: UInt16
        var publisher: [UInt8]
    }

    struct Edge: Hashable {
        var created: Wall
        var expires: Wall
        /// When the engine that wrote it will see it expire.
        var deadline: Mono
    }

    struct Status: Hashable {
        var value: Int32
        var ext: [UInt8]?
        var audience: Audience
        var expires: Wall
        var deadline: Mono
    }

    struct DeviceKey: Hashable {
        var account: [UInt8]
        var device: [UInt8]
    }

    struct Session: Hashable {
        var client: ClientKind
        var reach: Reach
        var pushUntil: Wall?
        var id: SessionID
        var loggedIn: Wall
        var address: [UInt8]
        var availability: Availability
    }

    struct Device: Hashable {
        var labels: DeviceLabels
        var updated: Wall
    }

    struct PairKey: Hashable {
        var owner: [UInt8]
        var contact: [UInt8]
    }

    typealias Relation = PairSide

    struct Message: Hashable {
        var account: [UInt8]
        var sender: [UInt8]?
        var device: [UInt8]?
        var byteCount: Int
        var isOfStranger: Bool
        var time: Wall
        var expires: Wall
        var handOver: HandOver?

        /// Whether no session has taken it.
        var waits: Bool { expires.milliseconds > 0 }
    }

    /// What a list says of a contact, or of an account that asks.
    struct Line: Hashable {
        var seen: RelationState
        var sees: RelationState
        var isListed: Bool
        var approvesBefore: Bool
        var label: [UInt8]
        var request: RequestContent
        var isContact: Bool
    }

    var edges: [EdgeKey: Edge] = [:]
    var statuses: [TopicKey: Status] = [:]
    var sessions: [DeviceKey: Session] = [:]
    var accounts: [[UInt8]: (value: Int32, lastSeen: Wall)] = [:]
    var relations: [PairKey: Relation] = [:]
    var visibilities: [[UInt8]: Visibility] = [:]
    var messages: [WaitingKey: Message] = [:]
    var devices: [DeviceKey: Device] = [:]
    var reserved: UInt64 = 0

    /// The list of an account, from both rows of each of its pairs.
    func lines(of name: [UInt8]) -> [[UInt8]: Line] {
        var others = Set(relations.keys.filter { $0.owner == name }.map(\.contact))
        others.formUnion(relations.keys.filter { $0.contact == name }.map(\.owner))
        var lines: [[UInt8]: Line] = [:]
        for other in others {
            let own = relations[PairKey(owner: name, contact: other)]
            let mirror = relations[PairKey(owner: other, contact: name)]
            let sees = mirror?.seen ?? .none
            let seen = own?.seen ?? .none
            let isContact = own?.isListed == true || seen != .none || sees == .active
            guard isContact || sees == .pending else { continue }
            lines[other] = Line(
                seen: seen, sees: sees, isListed: own?.isListed ?? false,
                approvesBefore: own?.approvesBefore ?? false, label: own?.label.bytes ?? [],
                request: mirror?.request ?? .none, isContact: isContact)
        }
        return lines
    }

    mutating func carryOut(_ write: RowWrite) {
        switch write {
        case .putEdges(let keys, var edge):
            for key in keys {
                edge.created = edges[key]?.created ?? edge.created
                edges[key] = edge
            }
        case .removeEdges(let keys): for key in keys { edges[key] = nil }
        case .removeAllEdges(let subscriber, let type):
            edges = edges.filter { $0.key.subscriber != subscriber || $0.key.type != type }
        case .putStatus(let key, let status): statuses[key] = status
        case .removeStatus(let key): statuses[key] = nil
        case .putSession(let key, let session): sessions[key] = session
        case .removeSession(let key): sessions[key] = nil
        case .putAccount(let name, let value, let lastSeen): accounts[name] = (value, lastSeen)
        case .removeAccount(let name): accounts[name] = nil
        case .putRelations(let pairs): for (key, row) in pairs { relations[key] = row }
        case .putVisibility(let account, let visibility): visibilities[account] = visibility
        case .putMessages(let rows): for (key, row) in rows { messages[key] = row }
        case .removeMessages(let keys): for key in keys { messages[key] = nil }
        case .takeMessages(let keys):
            for key in keys { messages[key]?.expires = Wall(milliseconds: 0) }
        case .handOver(let records):
            for record in records { messages[record.key]?.handOver = record.handOver }
        case .putDevices(let rows):
            for (key, device) in rows { devices[key] = device.labels.isEmpty ? nil : device }
        case .removeDevice(let key): devices[key] = nil
        case .reserve(let end): reserved = max(reserved, end)
        }
    }
}

/// A record with its names spelled out.
enum RowWrite {
    case putEdges([Rows.EdgeKey], Rows.Edge)
    case removeEdges([Rows.EdgeKey])
    case removeAllEdges([UInt8], UInt16)
    case putStatus(Rows.TopicKey, Rows.Status)
    case removeStatus(Rows.TopicKey)
    case putSession(Rows.DeviceKey, Rows.Session)
    case removeSession(Rows.DeviceKey)
    case putAccount([UInt8], Int32, Wall)
    case removeAccount([UInt8])
    case putRelations([(Rows.PairKey, Rows.Relation?)])
    case putVisibility([UInt8], Visibility?)
    case putMessages([(WaitingKey, Rows.Message)])
    case removeMessages([WaitingKey])
    case takeMessages([WaitingKey])
    case handOver([HandOverRecord])
    case putDevices([(Rows.DeviceKey, Rows.Device)])
    case removeDevice(Rows.DeviceKey)
    case reserve(UInt64)
}

extension Engine {
    /// What a new process would know.
    static func restored(from rows: Rows, _ settings: Settings, at now: Moment) -> Engine {
        var engine = Engine(settings: settings, at: now, seed: 7)
        engine.restoreSequence(reservedUpTo: rows.reserved)
        for (name, row) in rows.accounts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let account = engine.restoreName(name.span)
            engine.restoreAccount(account, value: row.value, lastSeen: row.lastSeen)
        }
        for (key, row) in rows.statuses where now.wall < row.expires {
            engine.restoreStatus(
                of: engine.restoreName(key.account.span), EventType(number: key.type),
                value: row.value, ext: row.ext, audience: row.audience, expires: row.expires,
                at: now)
        }
        for (key, row) in rows.edges where now.wall < row.expires {
            engine.restoreSubscription(
                of: engine.restoreName(key.subscriber.span),
                to: engine.restoreName(key.publisher.span), EventType(number: key.type),
                created: row.created, expires: row.expires, at: now)
        }
        for (name, visibility) in rows.visibilities {
            engine.restoreVisibility(of: engine.restoreName(name.span), visibility)
        }
        for (key, row) in rows.relations {
            engine.restoreRelation(
                of: engine.restoreName(key.owner.span),
                to: engine.restoreName(key.contact.span), row, at: now)
        }
        let inOrder = rows.messages.sorted {
            ($0.key.message, $0.key.place) < ($1.key.message, $1.key.place)
        }
        for (key, row) in inOrder {
            engine.restoreMessage(
                key.message, place: key.place, for: engine.restoreName(row.account.span),
                of: row.sender.map { engine.restoreName($0.span) }, device: row.device,
                byteCount: row.byteCount, isOfStranger: row.isOfStranger, time: row.time,
                expires: row.expires, handOver: row.handOver, at: now)
        }
        for (key, row) in rows.devices {
            engine.restoreDevice(
                of: engine.restoreName(key.account.span), on: key.device, row.labels,
                updated: row.updated)
        }
        for (key, row) in rows.sessions.sorted(by: { $0.value.id.ordinal < $1.value.id.ordinal }) {
            engine.restoreSession(
                of: engine.restoreName(key.account.span), on: key.device, row.client,
                reach: row.reach, pushUntil: row.pushUntil, session: row.id,
                loggedIn: row.loggedIn, address: row.address, availability: row.availability,
                at: now)
        }
        return engine
    }
}
