import PresenceCore

// Effects are carried out, and none may be wrong in itself.

/// What a session was told of a topic.
struct Told {
    var key: Rows.TopicKey
    var seq: UInt64
    var content: Content
    /// Whether it says something that is not true of an unknown account.
    var reveals: Bool

    /// What is the same in an event and in the states after it.
    struct Content: Hashable {
        struct Device: Hashable {
            var name: [UInt8]
            var client: ClientKind
            var availability: Availability?
        }

        var devices: [Device]
        var status: Int32?
        var ext: [UInt8]?
        var lastSeen: Wall?
    }

    init(_ key: Rows.TopicKey, _ event: Event, _ content: Content) {
        self.key = key
        self.content = content
        seq = event.seq
        reveals =
            event.value != 0 || event.status != nil || event.lastSeen != nil
            || event.online?.isEmpty == false
    }
}

extension Owner {
    func carryOut() {
        for item in effects.items { carryOut(item) }
        effects.removeAll()
        for (count, connection) in missedCopies { engine.missedCopies(count, by: connection) }
        missedCopies = []
        if !storeWaits, queue.contains(where: { $0.ticket != nil }) { settle(.committed) }
        if !fanOutsWait, !kept.isEmpty { continueFanOuts() }
        if !storeWaits, !reads.isEmpty { read(.committed) }
        if !listsWait, let connection = listing.min(by: { $0.slot < $1.slot }) {
            continueList(of: connection)
        }
    }

    private func carryOut(_ item: Effect) {
        trace("    \(item)")
        switch item {
        case .answer(let connection, let index): note(effects.answers[index], for: connection)
        case .reject(let connection, _): settled(connection)
        case .deliver(let event, let topic, let receivers):
            deliver(effects.events[event], topic, receivers)
        case .keep(let id, let event):
            require(kept.updateValue(told(effects.events[event]), forKey: id) == nil, "kept twice")
        case .deliverKept(let id, let topic, let receivers):
            guard let told = kept[id] else { return require(false, "an event that was not kept") }
            deliver(told, isLate: true, topic, receivers)
        case .drop(let id):
            require(kept.removeValue(forKey: id) != nil, "dropped what was not kept")
        case .contact(_, let receivers):
            let slots = effects.receivers[receivers]
            require(Set(slots).count == slots.count, "told twice of a contact")
            for slot in slots {
                let hears = open[slot].flatMap { peers[$0] }?.hears
                require(hears?.contains(.approved) == true, "told of a contact unasked")
            }
        case .direct(_, let receivers):
            let slots = effects.receivers[receivers]
            require(Set(slots).count == slots.count, "sent a presence twice")
            for slot in slots { require(open[slot] != nil, "a presence for nobody") }
        case .feed(let event, _):
            require(effects.events[event].seq > fedUpTo, "the feed is not in order")
            fedUpTo = effects.events[event].seq
        case .states(let connection, let range, _):
            require(open[connection.slot] == connection, "states for nobody")
            require(range.count <= settings.limits.statesPerFrameMax || range.count <= 4, "a page")
            for event in effects.events[range] { learn(told(event), connection) }
        case .synced(let connection, _):
            // An app server has no list.
            listing.remove(connection)
        case .caughtUp(let connection):
            conflated.remove(connection)
        case .expired(_, _, _, let receivers):
            for slot in effects.receivers[receivers] {
                guard let connection = open[slot] else { return require(false, "told nobody") }
                peers[connection]?.isWhole = false
            }
        case .persist(let ticket, let index):
            let record = effects.records[index]
            if let ticket, case .putMessage(let message) = record {
                stored[ticket] = message.message
            }
            queue.append((ticket, spell(record)))
        case .message(let ticket, let receivers):
            guard let id = stored[ticket] else { return require(false, "what was not stored") }
            for slot in effects.receivers[receivers] {
                guard let connection = open[slot] else { return require(false, "no connection") }
                note(id, for: connection)
            }
        case .copy(let ticket, let index, let receivers):
            require(stored[ticket] != nil, "a copy of what was not stored")
            let slots = effects.receivers[receivers]
            require(Set(slots).count == slots.count, "sent a copy twice")
            for slot in slots {
                guard let connection = open[slot] else { return require(false, "no connection") }
                guard conflated.contains(connection) else { continue }
                missedCopies.append((effects.copies[index].missedCount + 1, connection))
            }
        case .fetch(let connection, let messages):
            require(!messages.isEmpty, "a read of nothing")
            reads.append((connection, Array(effects.messages[messages])))
        case .close(let connection, _):
            if open[connection.slot] == connection { forget(connection) }
        }
    }

    private func told(_ event: Event) -> Told {
        Told(
            Rows.TopicKey(account: text(event.publisher), type: event.type.number), event,
            content(event))
    }

    func content(_ event: Event) -> Told.Content {
        Told.Content(
            devices: effects.devices[event.online ?? 0..<0].map { device in
                Told.Content.Device(
                    name: text(device.name), client: device.client,
                    availability: device.availability.map { effects.availabilities[Int($0)] })
            },
            status: event.status?.value, ext: event.status?.ext.map(text),
            lastSeen: event.lastSeen)
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
                learn(told(event), connection)
            }
        default: break
        }
    }

    private func deliver(_ event: Event, _ topic: TopicHandle, _ receivers: Range<Int>) {
        deliver(told(event), isLate: false, topic, receivers)
    }

    private func deliver(
        _ told: Told, isLate: Bool, _ topic: TopicHandle, _ receivers: Range<Int>
    ) {
        topicsSeen = max(topicsSeen, Int(topic.index) + 1)
        let slots = effects.receivers[receivers]
        require(Set(slots).count == slots.count, "told twice")
        for slot in slots {
            guard let connection = open[slot] else { return require(false, "told nobody") }
            require(!conflated.contains(connection), "an event that was to be withheld")
            learn(told, connection, isLate: isLate)
            // What was kept may have given way to something newer.
            if isLate { peers[connection]?.isWhole = false }
        }
    }

    /// Nobody is told something older than what he knows.
    private func learn(_ told: Told, _ connection: ConnectionID, isLate: Bool = false) {
        let known = peers[connection]?.view[told.key]?.seq ?? 0
        require(known <= told.seq, "seq \(told.seq) after \(known)")
        trace("        \(connection.slot) learns \(told.key) \(told.seq)")
        peers[connection]?.view[told.key] = told
        guard told.reveals, let peer = peers[connection], let account = peer.account else { return }
        require(
            told.key.account == account || sees(told.key, peer, inForce: false, isLate: isLate),
            "\(told.key) shown to \(account), which may not see it")
    }

    /// Whether a session sees a publisher, by what is stored. A subscription that has run out may
    /// not have been noticed yet: with `inForce` it does not count. What `isLate` may have been
    /// visible until the last report.
    func sees(
        _ key: Rows.TopicKey, _ peer: Peer, inForce: Bool, isLate: Bool = false
    ) -> Bool {
        guard let account = peer.account else { return false }
        var leases: Leases = []
        let edge = Rows.EdgeKey(subscriber: account, type: key.type, publisher: key.account)
        if let row = rows.edges[edge], !inForce || now.mono < row.deadline {
            leases.insert(.timed)
        }
        let pair = Rows.PairKey(owner: account, contact: key.account)
        let isApproved =
            rows.relations[pair]?.seen == .active || isLate && approvalsEnded.contains(pair)
        if key.type == 1, isApproved { leases.insert(.approved) }
        let visibility = rows.visibilities[key.account] ?? settings.visibility
        return !leases.intersection(visibility.leases).isDisjoint(with: peer.hears)
    }

    func spell(_ record: Record) -> RowWrite {
        switch record {
        case .putSubscriptions(let subscriber, let request, let created, let expires):
            let edge = Rows.Edge(
                created: created, expires: expires, deadline: now.mono(at: expires))
            return .putEdges(keys(subscriber, request.type, request.publishers), edge)
        case .removeSubscriptions(let subscriber, let request):
            guard let publishers = request.publishers else {
                return .removeAllEdges(name(subscriber), request.type.number)
            }
            return .removeEdges(keys(subscriber, request.type, publishers))
        case .putStatus(let account, let status, let expires):
            return .putStatus(
                Rows.TopicKey(account: name(account), type: status.type.number),
                Rows.Status(
                    value: status.value, ext: status.ext.map(text), audience: status.audience,
                    expires: expires, deadline: now.mono(at: expires)))
        case .removeStatus(let account, let type):
            return .removeStatus(Rows.TopicKey(account: name(account), type: type.number))
        case .putSession(let session), .updateSession(let session):
            return .putSession(
                Rows.DeviceKey(account: name(session.account), device: text(session.device)),
                Rows.Session(
                    client: session.client, reach: session.reach, pushUntil: session.pushUntil,
                    id: session.session, loggedIn: session.loggedIn, address: text(session.address),
                    availability: session.availability ?? Availability()))
        case .removeSession(let account, let device):
            return .removeSession(Rows.DeviceKey(account: name(account), device: text(device)))
        case .putAccount(let account, let value, let lastSeen):
            return .putAccount(name(account), value, lastSeen)
        case .removeAccount(let account):
            return .removeAccount(name(account))
        case .putRelations(let relations):
            return .putRelations(
                relations.map { relation in
                    (
                        Rows.PairKey(owner: name(relation.owner), contact: name(relation.contact)),
                        relation.side.seen == .none && !relation.side.isListed
                            && !relation.side.approvesBefore ? nil : relation.side
                    )
                })
        case .putVisibility(let account, let visibility):
            return .putVisibility(name(account), visibility)
        case .putDevice(let record, let owner):
            return .putDevices(
                [record, owner].compactMap(\.self).map { record in
                    (
                        Rows.DeviceKey(account: name(record.account), device: text(record.device)),
                        Rows.Device(labels: record.labels, updated: record.updated)
                    )
                })
        case .removeDevice(let account, let device):
            return .removeDevice(Rows.DeviceKey(account: name(account), device: text(device)))
        case .putMessage(let message):
            return .putMessages(
                message.recipients.enumerated().map { place, recipient in
                    (
                        WaitingKey(message: message.message, place: UInt16(place)),
                        Rows.Message(
                            account: name(recipient.account), sender: message.sender.map(name),
                            device: recipient.device.map(text), byteCount: message.byteCount,
                            isOfStranger: recipient.isOfStranger, time: message.time,
                            expires: message.expires, handOver: recipient.handOver)
                    )
                })
        case .removeMessages(let keys):
            return .removeMessages(keys)
        case .takeMessages(let keys):
            return .takeMessages(keys)
        case .handOver(let records):
            return .handOver(records)
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
