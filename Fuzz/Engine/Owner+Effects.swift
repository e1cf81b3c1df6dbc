import PresenceCore

// Effects are carried out, and none may be wrong in itself.

extension Owner {
    func carryOut() {
        for item in effects.items { carryOut(item) }
        effects.removeAll()
        if !storeWaits, queue.contains(where: { $0.ticket != nil }) { settle(.committed) }
        if !fanOutsWait, !kept.isEmpty { continueFanOuts() }
        if !listsWait, let connection = listing.min(by: { $0.slot < $1.slot }) {
            continueList(of: connection)
        }
    }

    private func carryOut(_ item: Effect) {
        trace("    \(item)")
        switch item {
        case .answer(let connection, let index): note(effects.answers[index], for: connection)
        case .refuse(let connection, _): settled(connection)
        case .deliver(let event, let topic, let receivers):
            deliver(key(effects.events[event]), effects.events[event].seq, topic, receivers)
        case .keep(let id, _):
            require(kept.insert(id).inserted, "kept twice")
        case .deliverKept(let id, let topic, let receivers):
            require(kept.contains(id), "an event that was not kept")
            deliver(nil, id.seq, topic, receivers)
        case .drop(let id):
            require(kept.remove(id) != nil, "dropped what was not kept")
        case .feed(let event, _):
            require(effects.events[event].seq > fedUpTo, "the feed is not in order")
            fedUpTo = effects.events[event].seq
        case .states(let connection, let range, _):
            require(open[connection.slot] == connection, "states for nobody")
            require(range.count <= settings.limits.statesPerFrameMax || range.count <= 4, "a page")
            for event in effects.events[range] { learn(key(event), event.seq, connection) }
        case .synced(let connection, _):
            // An app server has no list.
            listing.remove(connection)
        case .caughtUp(let connection):
            conflated.remove(connection)
        case .expired(_, _, let receivers):
            for slot in effects.receivers[receivers] {
                guard let connection = open[slot] else { return require(false, "told nobody") }
                peers[connection]?.isWhole = false
            }
        case .persist(let ticket, let index):
            queue.append((ticket, spell(effects.records[index])))
        case .close(let connection, _):
            if open[connection.slot] == connection { forget(connection) }
        }
    }

    private func key(_ event: Event) -> Rows.TopicKey {
        Rows.TopicKey(account: text(event.publisher), type: event.type.number)
    }

    private func settled(_ connection: ConnectionID) {
        guard open[connection.slot] == connection else { return }
        require(awaiting.remove(connection) != nil, "answered what was not asked")
    }

    private func note(_ answer: Answer, for connection: ConnectionID) {
        settled(connection)
        guard open[connection.slot] == connection else { return }
        switch answer {
        case .loggedIn:
            listing.insert(connection)
            peers[connection]?.isLoggedIn = true
        case .loggedInAppServer:
            peers[connection] = Peer(isLoggedIn: true)
        case .published(let seq, _, _):
            require(seq > seqMax, "seq \(seq) after \(seqMax)")
            seqMax = seq
        case .subscribed(_, let count, let states):
            require(count <= settings.limits.subscriptionsPerAccountMax, "over the quota")
            for event in effects.events[states ?? 0..<0] {
                learn(key(event), event.seq, connection)
            }
        default: break
        }
    }

    private func deliver(
        _ key: Rows.TopicKey?, _ seq: UInt64, _ topic: TopicHandle, _ receivers: Range<Int>
    ) {
        topicsSeen = max(topicsSeen, Int(topic.index) + 1)
        let slots = effects.receivers[receivers]
        require(Set(slots).count == slots.count, "told twice")
        for slot in slots {
            guard let connection = open[slot] else { return require(false, "told nobody") }
            require(!conflated.contains(connection), "an event that was to be withheld")
            if let key {
                learn(key, seq, connection)
            } else {
                // Which topic it is stands in the event that was kept.
                peers[connection]?.isWhole = false
            }
        }
    }

    /// Nobody is told something older than what he knows.
    private func learn(_ key: Rows.TopicKey, _ seq: UInt64, _ connection: ConnectionID) {
        let known = peers[connection]?.view[key] ?? 0
        require(known <= seq, "seq \(seq) after \(known)")
        trace("        \(connection.slot) learns \(key) \(seq)")
        peers[connection]?.view[key] = seq
    }

    func spell(_ record: Record) -> RowWrite {
        switch record {
        case .putSubscriptions(let subscriber, let type, let publishers, let created, let expires):
            let edge = Rows.Edge(
                created: created, expires: expires, deadline: now.mono(at: expires))
            return .putEdges(keys(subscriber, type, publishers), edge)
        case .removeSubscriptions(let subscriber, let type, let publishers):
            return .removeEdges(keys(subscriber, type, publishers))
        case .removeAllSubscriptions(let subscriber, let type):
            return .removeAllEdges(name(subscriber), type.number)
        case .putStatus(let status):
            return .putStatus(
                Rows.TopicKey(account: name(status.account), type: status.type.number),
                Rows.Status(
                    value: status.value, ext: status.ext.map(text), audience: status.audience,
                    expires: status.expires, deadline: now.mono(at: status.expires)))
        case .removeStatus(let account, let type):
            return .removeStatus(Rows.TopicKey(account: name(account), type: type.number))
        case .putSession(let session):
            return .putSession(
                Rows.DeviceKey(account: name(session.account), device: text(session.device)),
                Rows.Session(
                    client: session.client, reach: session.reach, pushUntil: session.pushUntil,
                    id: session.session, loggedIn: session.loggedIn, address: text(session.address)
                ))
        case .removeSession(let account, let device):
            return .removeSession(Rows.DeviceKey(account: name(account), device: text(device)))
        case .putAccount(let account, let value, let lastSeen):
            return .putAccount(name(account), value, lastSeen)
        case .removeAccount(let account):
            return .removeAccount(name(account))
        case .reserveSequence(let end):
            return .reserve(end)
        }
    }

    private func keys(
        _ subscriber: AccountHandle, _ type: EventType, _ publishers: [AccountHandle]
    ) -> [Rows.EdgeKey] {
        publishers.map {
            Rows.EdgeKey(subscriber: name(subscriber), type: type.number, publisher: name($0))
        }
    }
}
