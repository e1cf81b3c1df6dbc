import PresenceCore

// The engine once more, obvious and slow: dictionaries by name, everything searched for.
// It is written from docs/PROTOCOL.md, not from the engine, and knows no wheel, no index, no
// handles. What both make of the same commands must be the same.

/// A naive model of the service.
final class Oracle {
    struct Session {
        var device: String
        var client: ClientKind
        var reach: Reach
        var hearsContacts = false
        /// Whether it is told what changes on its account's list.
        var isInterested = false
        /// Whether its connection is back, and it has not shown itself again.
        var isReturning = false
        var availability = Availability()
        var connection: ConnectionID?
        var isPushOnly = false
        /// When the phase without connection ends.
        var ends: UInt64?
        var lastHeard: Int64
        /// When others began to see it, among all events that were sent.
        var shown = 0
    }

    struct Topic: Hashable {
        var publisher: String
        var type: Int
    }

    struct Subscription {
        var created: Int64
        var deadline: UInt64
    }

    struct Status {
        var value: Int32
        var ext: String?
        var audience: Audience
        var deadline: UInt64
    }

    struct Account {
        var sessions: [Session] = []
        /// Sessions that others do not see.
        var hidden: [Session] = []
        var lastValue: Int32 = 0
        var lastSeen: Int64 = 0
        var watches: [Topic: Subscription] = [:]
        var isBusy = false
        /// Nil: whom the setting says.
        var visibility: Visibility?
        var logins = Bucket()
        var publishes = Bucket()
    }

    /// Tokens, in thousandths.
    struct Bucket {
        /// Nil: as many as there can be.
        var left: Int?
        var asOf: UInt64 = 0

        /// Takes a token, if there is one.
        mutating func take(_ pace: Pace?, at now: UInt64) -> Bool {
            guard let pace else { return true }
            let full = pace.burst * 1_000
            let refilled = (left ?? full) + Int(now - asOf) * pace.perSecond
            left = min(full, refilled)
            asOf = now
            guard left ?? 0 >= 1_000 else { return false }
            left = (left ?? 0) - 1_000
            return true
        }
    }

    struct Peer {
        var account: String?
    }

    enum Change {
        case subscribe([String], type: Int, deadline: UInt64, answer: SubscribeAnswer)
        case unsubscribe([String]?, type: Int)
        case publish(
            Int32, type: Int, ext: String?, deadline: UInt64, own: OwnSessions, origin: String?)
        case clear(type: Int)
        case relate(String, ContactAction, adds: Bool)
        case setVisibility(Visibility?)
    }

    let settings: Settings
    var accounts: [String: Account] = [:]
    var statuses: [Topic: Status] = [:]
    var peers: [ConnectionID: Peer] = [:]
    var seen: [ConnectionID: [Seen]] = [:]
    var pending: [(connection: ConnectionID, account: String, change: Change)] = []
    var deferred: [(connection: ConnectionID, account: String, again: () -> Void)] = []
    var closed: Set<ConnectionID> = []
    /// Connections that take no events now.
    var missing: Set<ConnectionID> = []
    var behind: [ConnectionID: Behind] = [:]
    /// How many events were sent, or missed.
    var eventsSent = 0
    /// What accounts keep of each other, by owner and contact.
    var relations: [Pairing: Keeping] = [:]
    /// Every change of state, watched or not.
    var feed: [State] = []
    var now: UInt64 = 0

    init(_ settings: Settings) { self.settings = settings }

    var wall: Int64 { World.start + Int64(now) }
    func wall(at deadline: UInt64) -> Int64 { World.start + Int64(deadline) }

    /// What is said to a connection that is closed is heard by nobody.
    func note(_ what: Seen, _ connection: ConnectionID) {
        guard !closed.contains(connection) else { return }
        if case .closed = what { closed.insert(connection) }
        seen[connection, default: []].append(what)
    }

    func take(_ connection: ConnectionID) -> [Seen] {
        defer { seen[connection] = [] }
        return seen[connection] ?? []
    }

    // MARK: States and events

    func state(_ topic: Topic, cause: Cause = .sync) -> State {
        let account = accounts[topic.publisher] ?? Account()
        let status = statuses[topic]
        var state = State(
            publisher: topic.publisher, type: topic.type, value: 0, cause: cause,
            status: status.map { "\($0.value)|\($0.ext ?? "-")|\(wall(at: $0.deadline))" })
        guard topic.type == 1 else {
            state.value = Int(status?.value ?? 0)
            return state
        }
        state.online = account.sessions.map {
            "\($0.client):\($0.device)\($0.isPushOnly ? "*" : "")"
                + ($0.availability == Availability() ? "" : inWords($0.availability))
        }
        if account.sessions.isEmpty {
            state.value = Int(account.lastValue)
            state.lastSeen = account.lastValue == 0 ? nil : account.lastSeen
        } else {
            state.value = Int(status?.value ?? 1)
        }
        return state
    }

    func ownValue(_ topic: Topic) -> Int {
        guard topic.type == 1 else { return 0 }
        let account = accounts[topic.publisher] ?? Account()
        return account.sessions.isEmpty ? Int(account.lastValue) : 1
    }

    func emit(
        _ topic: Topic, value: Int, cause: Cause, origin: String? = nil, ext: String? = nil,
        gone: [Departure] = [], ownBut connection: ConnectionID? = nil, own: OwnSessions = .excluded
    ) {
        var event = state(topic, cause: cause)
        event.value = value
        event.origin = origin
        event.ext = ext
        var told: Set<ConnectionID> = []
        for (name, account) in accounts {
            told.formUnion(
                account.sessions.filter { sees($0, of: name, topic) && !$0.isReturning }
                    .compactMap(\.connection))
        }
        if topic.type == 1 {
            let resources = accounts[topic.publisher]?.sessions.filter {
                $0.client == .xmpp && !$0.isReturning && $0.connection != connection
            }
            told.formUnion((resources ?? []).compactMap(\.connection))
        }
        if own == .included {
            let others =
                accounts[topic.publisher]?.sessions.filter { !$0.isReturning }
                .compactMap(\.connection) ?? []
            told.formUnion(others.filter { $0 != connection })
        }
        for receiver in told { tell(event, gone: gone, receiver) }
        feed.append(event)
    }

    // MARK: Time

    /// Does what becomes due until `end`, one deadline after the other.
    func pass(to end: UInt64) {
        while let next = nextDeadline(), next <= end {
            now = max(now, next)
            doWhatIsDue()
        }
        now = end
    }

    private func nextDeadline() -> UInt64? {
        var all: [UInt64] = statuses.values.map(\.deadline)
        for account in accounts.values {
            all += account.watches.values.map(\.deadline)
            all += account.sessions.compactMap(\.ends)
        }
        return all.min()
    }

    private func doWhatIsDue() {
        for (topic, status) in statuses where status.deadline <= now {
            statuses[topic] = nil
            emit(topic, value: ownValue(topic), cause: .expired)
        }
        for name in accounts.keys.sorted() {
            expireSubscriptions(of: name)
            while let due = accounts[name]?.sessions.firstIndex(where: { ($0.ends ?? .max) <= now })
            {
                phaseEnded(name, due)
            }
        }
    }

    private func expireSubscriptions(of name: String) {
        let gone = accounts[name]?.watches.filter { $0.value.deadline <= now } ?? [:]
        for type in Set(gone.keys.map(\.type)) {
            let publishers = gone.keys.filter { $0.type == type }.map(\.publisher).sorted()
            noteEnd(.expired, of: name, to: publishers, type: type)
        }
        for topic in gone.keys { accounts[name]?.watches[topic] = nil }
    }

    /// The sessions of an account are told that subscriptions have ended, except the one that is
    /// answered.
    func noteEnd(
        _ cause: SubscriptionEnd, of name: String, to publishers: [String], type: Int,
        exceptTo answered: ConnectionID? = nil
    ) {
        guard !publishers.isEmpty else { return }
        for session in accounts[name]?.sessions ?? [] {
            guard let connection = session.connection, connection != answered else { continue }
            note(.expired(type: type, publishers: publishers, cause: cause), connection)
        }
    }
}
