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
    }

    var edges: [EdgeKey: Edge] = [:]
    var statuses: [TopicKey: Status] = [:]
    var sessions: [DeviceKey: Session] = [:]
    var accounts: [[UInt8]: (value: Int32, lastSeen: Wall)] = [:]
    var reserved: UInt64 = 0

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
        for (key, row) in rows.sessions.sorted(by: { $0.value.id.ordinal < $1.value.id.ordinal }) {
            engine.restoreSession(
                of: engine.restoreName(key.account.span), on: key.device, row.client,
                reach: row.reach, pushUntil: row.pushUntil, session: row.id,
                loggedIn: row.loggedIn, address: row.address, at: now)
        }
        return engine
    }
}
