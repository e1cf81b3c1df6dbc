import PresenceCore

extension Oracle {
    /// Whose change it is; nil, and a rejection, where there is nobody.
    func subject(_ connection: ConnectionID) -> String? {
        guard let peer = peers[connection] else {
            reject(connection, .notLoggedIn)
            return nil
        }
        return peer.account
    }

    /// Runs `body` now, or when the account has no change in flight any more.
    func inTurn(
        _ connection: ConnectionID, _ name: String, with contact: String? = nil,
        _ body: @escaping () -> Void
    ) {
        if let contact, accounts[name]?.isBusy != true, let holder = holder(of: name, contact) {
            deferred.append(
                (connection, holder, { [self] in inTurn(connection, name, with: contact, body) }))
        } else if accounts[name]?.isBusy == true {
            deferred.append(
                (connection, name, { [self] in inTurn(connection, name, with: contact, body) }))
        } else {
            body()
        }
    }

    func propose(_ connection: ConnectionID, _ name: String, _ change: Change) {
        accounts[name, default: Account()].isBusy = true
        pending.append((connection, name, change))
    }

    func subscribe(
        _ connection: ConnectionID, _ publishers: [String], type: Int, seconds: Int,
        answer: SubscribeAnswer
    ) {
        guard let name = subject(connection) else { return }
        inTurn(connection, name) { [self] in
            let hidden = publishers.contains { $0 != name && visibility(of: $0) != .open }
            guard !hidden else { return reject(connection, .notPermitted) }
            let watches = accounts[name]?.watches ?? [:]
            let added = publishers.count { watches[Topic(publisher: $0, type: type)] == nil }
            guard watches.count + added <= settings.limits.subscriptionsPerAccountMax else {
                return reject(connection, .subscriptionQuota)
            }
            let isFull = publishers.contains { publisher in
                let topic = Topic(publisher: publisher, type: type)
                return !self.watches(name, topic) && !hasRoom(topic)
            }
            guard !isFull else { return reject(connection, .subscriberQuota) }
            let deadline = now + UInt64(seconds) * 1_000
            propose(
                connection, name,
                .subscribe(publishers, type: type, deadline: deadline, answer: answer))
        }
    }

    /// Whether one account more may watch, with those that will when their change is stored.
    private func hasRoom(_ topic: Topic) -> Bool {
        guard let limit = settings.subscribersPerPublisherMax else { return true }
        let now = accounts.keys.filter { watches($0, topic) }
        let soon = pending.filter {
            guard case .subscribe(let publishers, topic.type, _, _) = $0.change else {
                return false
            }
            return publishers.contains(topic.publisher)
        }
        return Set(now).union(soon.map(\.account)).count < limit
    }

    /// Whether the account may publish or clear now; it is rejected if it may not.
    func mayPublish(_ connection: ConnectionID, _ name: String) -> Bool {
        let isTaken = accounts[name, default: Account()].publishes
            .take(settings.publishPace, at: now)
        if !isTaken { reject(connection, .rateLimited) }
        return isTaken
    }

    func unsubscribe(_ connection: ConnectionID, _ publishers: [String]?, type: Int) {
        guard let name = subject(connection) else { return }
        inTurn(connection, name) { [self] in
            propose(connection, name, .unsubscribe(publishers, type: type))
        }
    }

    func publish(
        _ connection: ConnectionID, _ value: Int32, type: Int, seconds: Int, ext: String?,
        audience: Audience, own: OwnSessions
    ) {
        guard let name = subject(connection) else { return }
        inTurn(connection, name) { [self] in
            guard mayPublish(connection, name) else { return }
            let deadline = now + UInt64(seconds) * 1_000
            let origin = accounts[name]?.sessions.first { $0.connection == connection }
                .map { "\($0.client):\($0.device)" }
            let change = Change.publish(
                value, type: type, ext: ext, deadline: deadline, own: own, origin: origin)
            if audience == .everybody { return propose(connection, name, change) }
            apply(connection, name, change, audience: .onlineOnly)
        }
    }

    func clear(_ connection: ConnectionID, type: Int) {
        guard let name = subject(connection) else { return }
        inTurn(connection, name) { [self] in
            guard mayPublish(connection, name) else { return }
            guard statuses[Topic(publisher: name, type: type)] != nil else {
                return note(.cleared(false), connection)
            }
            propose(connection, name, .clear(type: type))
        }
    }

    func commit() {
        guard !pending.isEmpty else { return }
        let (connection, name, change) = pending.removeFirst()
        apply(connection, name, change, audience: .everybody)
        settle(name)
    }

    func fail() {
        guard !pending.isEmpty else { return }
        let (connection, name, _) = pending.removeFirst()
        reject(connection, .storeUnavailable)
        settle(name)
    }

    private func settle(_ name: String) {
        accounts[name]?.isBusy = false
        while accounts[name]?.isBusy == false,
            let next = deferred.firstIndex(where: { $0.account == name })
        {
            let entry = deferred.remove(at: next)
            if peers[entry.connection] != nil { entry.again() }
        }
    }

    private func apply(
        _ connection: ConnectionID, _ name: String, _ change: Change, audience: Audience
    ) {
        switch change {
        case .subscribe(let publishers, let type, let deadline, let answer):
            for publisher in publishers {
                let topic = Topic(publisher: publisher, type: type)
                let created = accounts[name]?.watches[topic]?.created
                accounts[name]?.watches[topic] = Subscription(
                    created: created ?? wall, deadline: deadline)
            }
            let states = publishers.map { publisher in
                let topic = Topic(publisher: publisher, type: type)
                let session = accounts[name]?.sessions.first { $0.connection == connection }
                return session.map { stateAsSeen(by: $0, of: name, topic) } ?? state(topic)
            }
            note(
                .subscribed(
                    count: accounts[name]?.watches.count ?? 0,
                    states: answer == .withStates ? states : nil), connection)
        case .unsubscribe(let publishers, let type):
            let before = accounts[name]?.watches ?? [:]
            let after = before.filter {
                $0.key.type != type || publishers?.contains($0.key.publisher) == false
            }
            accounts[name]?.watches = after
            let ended = before.keys.filter { after[$0] == nil }.map(\.publisher).sorted()
            noteEnd(.unsubscribed, of: name, to: ended, type: type, exceptTo: connection)
            note(
                .unsubscribed(removed: before.count - after.count, count: after.count),
                connection)
        case .publish(let value, let type, let ext, let deadline, let own, let origin):
            let topic = Topic(publisher: name, type: type)
            statuses[topic] = Status(
                value: value, ext: ext, audience: audience, deadline: deadline)
            note(.published, connection)
            emit(
                topic, value: Int(value), cause: .publish, origin: origin, ext: ext,
                ownBut: connection, own: own)
        case .clear(let type):
            let topic = Topic(publisher: name, type: type)
            let was = statuses.removeValue(forKey: topic)
            note(.cleared(was != nil), connection)
            if was != nil { emit(topic, value: ownValue(topic), cause: .cleared) }
        case .relate(let contact, let action, _):
            apply(connection, name, contact, action)
        case .setVisibility(let visibility):
            apply(connection, name, visibility)
        }
    }
}
