import PresenceCore

// Nothing is under way: what the engine knows, what is stored, and what everybody was told
// must be the same.

extension Owner {
    /// Lets everything that is under way come to its end, and compares.
    func quiesce() {
        let waits = (storeWaits, listsWait, fanOutsWait)
        (storeWaits, listsWait, fanOutsWait) = (false, false, false)
        defer { (storeWaits, listsWait, fanOutsWait) = waits }
        carryOut()
        for connection in conflated.sorted(by: { $0.slot < $1.slot }) {
            for _ in 0..<10_000 where conflated.contains(connection) { drained(connection) }
        }
        require(conflated.isEmpty, "never caught up: \(conflated)")
        pass(milliseconds: 0)
        require(awaiting.isEmpty, "never answered: \(awaiting)")
        require(engine.changesInFlight == 0, "changes in flight")
        require(listing.isEmpty && kept.isEmpty, "lists or fan-outs that do not end")
        for (_, write) in queue { rows.carryOut(write) }
        queue = []
        engine.checkInvariants()
        require(reads.isEmpty, "messages that are not read")
        let waiting = rows.messages.values.count { $0.waits }
        require(engine.messages.waiting == waiting, "messages miscounted")
        checkUndelivered()
        compare()
    }

    /// What was handed over and waits is undelivered, in the order of the numbers.
    private func checkUndelivered() {
        let share = engine.undelivered(
            after: 0, countMax: 10_000, bytesMax: .max, at: now.mono)
        let told = share.messages.map { undelivered in
            Handed(
                handOver: undelivered.handOver, message: undelivered.message,
                account: name(undelivered.account))
        }
        let stored = rows.messages.filter(\.value.waits).compactMap { key, row in
            row.handOver.map { Handed(handOver: $0, message: key.message, account: row.account) }
        }
        require(
            told == stored.sorted { $0.handOver.number < $1.handOver.number },
            "undelivered is \(told), stored \(stored)")
    }

    private func compare() {
        let asking = connect()
        logInAppServer(on: asking)
        var truth: [Rows.TopicKey: Told.Content] = [:]
        for letter in UInt8(ascii: "a")...UInt8(ascii: "h") {
            compareEdges(of: [letter], asking)
            compareSessions(of: [letter], asking)
            compareContacts(of: [letter], asking)
            compareDevices(of: [letter], asking)
            for type: UInt16 in [1, 100, 65_535] {
                let key = Rows.TopicKey(account: [letter], type: type)
                truth[key] = compareStatus(key, asking)
            }
        }
        for (_, peer) in peers where peer.isWhole {
            guard let account = peer.account else { continue }
            // Of itself an account is told some, even where it does not watch itself.
            for (key, told) in peer.view where key.account != account {
                guard sees(key, peer, inForce: true) else { continue }
                guard let newest = truth[key] else { continue }
                require(newest == told.content, "\(key) is \(newest), told \(told)")
            }
        }
        drop(asking)
    }

    /// Gives a command whose answer comes at once, made with its names.
    private func ask(
        _ asking: ConnectionID, _ make: (inout RequestTexts) -> Command, _ read: (Answer) -> Void
    ) {
        var texts = RequestTexts()
        let command = make(&texts)
        engine.handle(command, texts.ofLast, from: asking, at: now, into: &effects)
        for case .answer(asking, let index) in effects.items { read(effects.answers[index]) }
        awaiting.insert(asking)
        carryOut()
        require(!awaiting.contains(asking), "no answer to \(command)")
    }

    private func compareEdges(of name: [UInt8], _ asking: ConnectionID) {
        var known: Set<Rows.EdgeKey> = []
        var cursor: UInt64?
        repeat {
            let request = ListSubscriptions(cursor: cursor, entriesMax: 2)
            cursor = nil
            ask(asking) {
                .subscriptions(account: $0.add(name), request)
            } _: { answer in
                guard case .subscriptions(let entries, _, let next) = answer else { return }
                for entry in effects.subscriptions[entries] {
                    let key = Rows.EdgeKey(
                        subscriber: name, type: entry.type.number, publisher: text(entry.publisher))
                    require(known.insert(key).inserted, "listed twice")
                }
                cursor = next
            }
        } while cursor != nil
        let stored = rows.edges.filter {
            $0.key.subscriber == name && now.mono < $0.value.deadline
        }
        require(known == Set(stored.keys), "knows \(known), stored \(stored)")
    }

    private func compareSessions(of name: [UInt8], _ asking: ConnectionID) {
        var known: Set<[UInt8]> = []
        ask(asking) {
            .sessions(account: $0.add(name))
        } _: { answer in
            guard case .sessions(let entries, _) = answer else { return }
            for entry in effects.sessions[entries] {
                require(known.insert(text(entry.device)).inserted, "a device twice")
            }
        }
        let stored = rows.sessions.keys.filter { $0.account == name }.map(\.device)
        require(known == Set(stored), "\(name): sessions \(known), stored \(stored)")
        require(known.count <= settings.limits.sessionsPerAccountMax, "over the quota")
    }

    private func compareDevices(of name: [UInt8], _ asking: ConnectionID) {
        var known: [[UInt8]: DeviceLabels] = [:]
        ask(asking) {
            .devices(account: $0.add(name))
        } _: { answer in
            guard case .devices(let entries) = answer else { return }
            for entry in effects.labelled[entries] {
                let before = known.updateValue(entry.labels, forKey: text(entry.device))
                require(before == nil, "a device twice")
            }
        }
        let stored = rows.devices.filter { $0.key.account == name }
        require(
            known
                == Dictionary(
                    uniqueKeysWithValues: stored.map { ($0.key.device, $0.value.labels) }),
            "\(name): devices \(known), stored \(stored)")
    }

    /// What both sides of every pair are listed as is what is stored of both.
    private func compareContacts(of name: [UInt8], _ asking: ConnectionID) {
        var known: [[UInt8]: Rows.Line] = [:]
        var (cursor, total): (UInt64?, Int) = (nil, 0)
        repeat {
            let request = ListContacts(cursor: cursor, entriesMax: 2)
            cursor = nil
            ask(asking) {
                .contacts(account: $0.add(name), request)
            } _: { answer in
                guard case .contacts(let entries, let count, let next) = answer else { return }
                for entry in effects.contacts[entries] {
                    let line = Rows.Line(
                        seen: entry.seen, sees: entry.sees, isListed: entry.isListed,
                        approvesBefore: entry.isApprovedBefore, label: text(entry.label),
                        request: RequestContent(
                            text: entry.requestText.map(text),
                            extra: entry.requestExtra.map(text) ?? []),
                        isContact: entry.isContact)
                    require(known.updateValue(line, forKey: text(entry.account)) == nil, "twice")
                }
                (cursor, total) = (next, count)
            }
        } while cursor != nil
        let stored = rows.lines(of: name)
        require(known == stored, "\(name): contacts \(known), stored \(stored)")
        require(total == stored.values.count { $0.isContact }, "a wrong count of contacts")
    }

    /// Tells the topic's state, if its watchers must know it.
    private func compareStatus(
        _ key: Rows.TopicKey, _ asking: ConnectionID
    ) -> Told.Content? {
        var state: Told.Content?
        let type = EventType(number: key.type)
        ask(asking) {
            .query(type, accounts: $0.add(names: [key.account]))
        } _: { answer in
            guard case .states(let range) = answer, let event = effects.events[range].first else {
                return require(false, "no state")
            }
            // A device that only push reaches any more is no event.
            let devices = effects.devices[event.online ?? 0..<0]
            for device in devices {
                let session = rows.sessions[
                    Rows.DeviceKey(account: key.account, device: text(device.name))]
                let shown = device.availability.map { effects.availabilities[Int($0)] }
                require(
                    shown ?? Availability() == session?.availability,
                    "\(key): another availability is stored")
            }
            state = devices.contains { $0.reach == .push } ? nil : content(event)
            let stored = rows.statuses[key].flatMap { now.mono < $0.deadline ? $0 : nil }
            require(event.status?.value == stored?.value, "\(key): another status is stored")
            require(event.status?.ext.map(text) == stored?.ext, "\(key): another text is stored")
        }
        return state
    }
}

/// A message that was handed over.
private struct Handed: Hashable {
    var handOver: HandOver
    var message: MessageID
    var account: [UInt8]
}
