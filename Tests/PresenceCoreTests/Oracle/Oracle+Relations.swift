import PresenceCore

// Relationships, written from RFC 6121, sections 2 and 3, and from docs/PROTOCOL.md: who has asked,
// who has accepted, who sees whom.

extension Oracle {
    struct Pairing: Hashable {
        var owner: String
        var contact: String
    }

    /// What an owner keeps of a contact.
    struct Keeping: Hashable {
        enum Sight: Hashable { case none, asked(String), given }

        var sight = Sight.none
        var isListed = false
        var approvesBefore = false
        var label = ""
    }

    func keeping(_ owner: String, _ contact: String) -> Keeping {
        relations[Pairing(owner: owner, contact: contact)] ?? Keeping()
    }

    private func keep(_ owner: String, _ contact: String, _ change: (inout Keeping) -> Void) {
        var keeping = keeping(owner, contact)
        change(&keeping)
        relations[Pairing(owner: owner, contact: contact)] =
            keeping == Keeping() ? nil : keeping
    }

    // MARK: Sight

    func visibility(of name: String) -> Visibility {
        accounts[name]?.visibility ?? settings.visibility
    }

    /// Whether an account subscribes, for one reason or the other.
    func watches(_ name: String, _ topic: Topic) -> Bool {
        accounts[name]?.watches[topic] != nil
            || topic.type == 1 && keeping(name, topic.publisher).sight == .given
    }

    func sees(_ session: Session, of name: String, _ topic: Topic) -> Bool {
        let byTime =
            session.client != .xmpp && accounts[name]?.watches[topic] != nil
            && (topic.publisher == name || visibility(of: topic.publisher) == .open)
        let byApproval =
            topic.type == 1 && session.hearsContacts
            && visibility(of: topic.publisher) != .hidden
            && keeping(name, topic.publisher).sight == .given
        return byTime || byApproval
    }

    func topics(of session: Session, _ name: String) -> [Topic] {
        var topics: Set<Topic> = []
        if session.client != .xmpp { topics.formUnion((accounts[name]?.watches ?? [:]).keys) }
        for (pairing, keeping) in relations
        where pairing.owner == name && keeping.sight == .given && session.hearsContacts {
            topics.insert(Topic(publisher: pairing.contact, type: 1))
        }
        return Array(topics)
    }

    func stateAsSeen(by session: Session, of name: String, _ topic: Topic) -> State {
        topic.publisher == name || sees(session, of: name, topic)
            ? state(topic) : hiddenState(topic, .sync)
    }

    /// `withdrawn` are the devices that were visible, as the sight of them ends.
    private func hiddenState(_ topic: Topic, _ cause: Cause) -> State {
        State(
            publisher: topic.publisher, type: topic.type, value: 0, cause: cause,
            online: topic.type == 1 ? [] : nil,
            withdrawn: cause == .hidden ? state(topic).online ?? [] : nil)
    }

    /// Runs a change and tells every session that has lost or gained the sight of `publisher`.
    private func changingSight(of publisher: String, _ change: () -> Void) {
        let topics = [Topic(publisher: publisher, type: 1), Topic(publisher: publisher, type: 100)]
        func seeing() -> [Topic: Set<ConnectionID>] {
            var all: [Topic: Set<ConnectionID>] = [:]
            for topic in topics {
                for (name, account) in accounts {
                    for session in account.sessions
                    where sees(session, of: name, topic) && !session.isReturning {
                        if let connection = session.connection {
                            all[topic, default: []].insert(connection)
                        }
                    }
                }
            }
            return all
        }
        let before = seeing()
        let gone = departures(of: publisher)
        change()
        let after = seeing()
        for topic in topics {
            for connection in (before[topic] ?? []).subtracting(after[topic] ?? []) {
                tell(hiddenState(topic, .hidden), gone: topic.type == 1 ? gone : [], connection)
            }
            for connection in (after[topic] ?? []).subtracting(before[topic] ?? []) {
                tell(state(topic, cause: .shown), connection)
            }
        }
    }

    // MARK: Requests

    /// The account whose change in flight is about this pair.
    func holder(of name: String, _ contact: String) -> String? {
        pending.first {
            guard case .relate(let other, _, _) = $0.change else { return false }
            return Set([$0.account, other]) == Set([name, contact])
        }?.account
    }

    func relate(_ connection: ConnectionID, _ contact: String, _ action: ContactAction) {
        guard let name = subject(connection) else { return }
        inTurn(connection, name, with: contact) { [self] in
            guard contact != name else { return reject(connection, .notPermitted) }
            let (own, other) = outcome(name, contact, action)
            let adds = isAsked(own) && !isAsked(keeping(name, contact))
            let contacts = contacts(of: name)
            if own.isListed, !contacts.contains(contact),
                contacts.count >= settings.limits.contactsPerAccountMax
            {
                return reject(connection, .contactQuota)
            }
            let requestsMax = settings.limits.requestsPerAccountMax
            let isKnown = self.contacts(of: contact).contains(name)
            if adds,
                requests(to: contact) >= requestsMax
                    || !isKnown && requests(to: contact, by: .strangers) >= (requestsMax + 1) / 2
            {
                return reject(connection, .requestQuota)
            }
            if action == .remove, !contacts.contains(contact) {
                return reject(connection, .unknownContact)
            }
            guard mayPublish(connection, name) else { return }
            if own == keeping(name, contact), other == keeping(contact, name) {
                return apply(connection, name, contact, action)
            }
            propose(connection, name, .relate(contact, action, adds: adds))
        }
    }

    private func isAsked(_ keeping: Keeping) -> Bool {
        if case .asked = keeping.sight { true } else { false }
    }

    private enum Askers { case all, strangers }

    /// How many requests an account has to answer, with those that are being stored.
    private func requests(to name: String, by askers: Askers = .all) -> Int {
        let known = contacts(of: name)
        let stored = relations.count {
            $0.key.contact == name && isAsked($0.value)
                && (askers == .all || !known.contains($0.key.owner))
        }
        let soon = pending.count {
            guard case .relate(name, _, true) = $0.change else { return false }
            return true
        }
        return stored + soon
    }

    private func contacts(of name: String) -> Set<String> {
        var contacts: Set<String> = []
        for (pairing, keeping) in relations {
            if pairing.owner == name, keeping.isListed || keeping.sight != .none {
                contacts.insert(pairing.contact)
            }
            if pairing.contact == name, keeping.sight == .given { contacts.insert(pairing.owner) }
        }
        return contacts
    }

    /// What both sides keep after an action of `name`.
    private func outcome(
        _ name: String, _ contact: String, _ action: ContactAction
    ) -> (own: Keeping, other: Keeping) {
        var (own, other) = (keeping(name, contact), keeping(contact, name))
        switch action {
        case .say(.subscribe, let content):
            own.isListed = true
            if own.sight == .none {
                if other.approvesBefore {
                    own.sight = .given
                    other.approvesBefore = false
                    other.isListed = true
                } else {
                    own.sight = .asked(String(decoding: content.text ?? [], as: UTF8.self))
                }
            }
        case .say(.unsubscribe, _): own.sight = .none
        case .say(.subscribed, _):
            if isAsked(other) {
                other.sight = .given
                own.isListed = true
            } else if other.sight == .none {
                own.approvesBefore = true
                own.isListed = true
            }
        case .say(.unsubscribed, _):
            other.sight = .none
            own.approvesBefore = false
        case .describe(let label):
            own.isListed = true
            own.label = String(decoding: label.bytes, as: UTF8.self)
        case .remove:
            own = Keeping()
            other.sight = .none
        }
        return (own, other)
    }

    // MARK: Effects

    func apply(
        _ connection: ConnectionID, _ name: String, _ contact: String, _ action: ContactAction
    ) {
        let before = (keeping(name, contact), keeping(contact, name))
        let linesBefore = (line(name, contact), line(contact, name))
        let after = outcome(name, contact, action)
        changingSight(of: contact) { keep(name, contact) { $0 = after.own } }
        changingSight(of: name) { keep(contact, name) { $0 = after.other } }
        note(.related(line(name, contact)), connection)
        let asks = action == .say(.subscribe, text: nil) || isRequest(action)
        let isAnswered = asks && after.own.sight == .given
        if isAnswered, before.0.sight == .given { showAgain(contact, to: name) }
        tell(
            name, line(name, contact), isAnswered ? [.subscribed] : [],
            isChanged: isVisiblyOther(linesBefore.0, line(name, contact)), but: connection)
        tell(
            contact, line(contact, name), words(action, before, after),
            isChanged: isVisiblyOther(linesBefore.1, line(contact, name)), but: connection)
    }

    private func isRequest(_ action: ContactAction) -> Bool {
        if case .say(.subscribe, _) = action { true } else { false }
    }

    /// What the contact is told.
    private func words(
        _ action: ContactAction, _ before: (Keeping, Keeping),
        _ after: (own: Keeping, other: Keeping)
    ) -> [RelationWord] {
        var words: [RelationWord] = []
        if before.0.sight == .none, isAsked(after.own) { words.append(.subscribe) }
        if before.0.sight != .none, after.own.sight == .none { words.append(.unsubscribe) }
        if isAsked(before.1), after.other.sight == .given { words.append(.subscribed) }
        if before.1.sight != .none, after.other.sight == .none { words.append(.unsubscribed) }
        return words
    }

    private func showAgain(_ publisher: String, to name: String) {
        let topic = Topic(publisher: publisher, type: 1)
        let byTime = accounts[name]?.watches[topic] != nil && visibility(of: publisher) == .open
        for session in accounts[name]?.sessions ?? []
        where sees(session, of: name, topic) && !session.isReturning {
            guard !byTime || session.client == .xmpp, let connection = session.connection else {
                continue
            }
            tell(state(topic, cause: .shown), connection)
        }
    }

    /// What an account's list shows of a contact, and what the contact asks.
    func line(_ name: String, _ contact: String) -> ContactLine {
        let (own, other) = (keeping(name, contact), keeping(contact, name))
        var line = ContactLine(
            name: contact, subscription: subscription(own.sight == .given, other.sight == .given))
        line.asks = isAsked(own)
        if case .asked(let text) = other.sight { line.request = text }
        line.isApprovedBefore = own.approvesBefore
        line.isContact = contacts(of: name).contains(contact)
        line.label = own.label
        return line
    }

    /// Whether two lines differ in what a list shows: who only asks is not on it.
    private func isVisiblyOther(_ a: ContactLine, _ b: ContactLine) -> Bool {
        func shown(_ line: ContactLine) -> ContactLine? {
            guard line.isContact else { return nil }
            var line = line
            line.request = nil
            return line
        }
        return shown(a) != shown(b)
    }

    private func tell(
        _ name: String, _ line: ContactLine, _ words: [RelationWord], isChanged: Bool,
        but origin: ConnectionID
    ) {
        let isOnlyRequest = words == [.subscribe] && !isChanged
        let shown = accounts[name]?.sessions ?? []
        let all = isOnlyRequest ? shown.filter { !$0.isReturning } : shown + hidden(name)
        for session in all where session.hearsContacts {
            guard let connection = session.connection, isOnlyRequest || session.isInterested,
                connection != origin || session.client == .xmpp
            else { continue }
            for word in words { note(.contact(line, word), connection) }
            if words.isEmpty, isChanged { note(.contact(line, nil), connection) }
        }
    }

    func list(_ connection: ConnectionID) {
        guard let name = subject(connection) else { return }
        for place in (accounts[name]?.sessions ?? []).indices
        where accounts[name]?.sessions[place].connection == connection {
            let hears = accounts[name]?.sessions[place].hearsContacts == true
            accounts[name]?.sessions[place].isInterested = hears
        }
        for place in hidden(name).indices where hidden(name)[place].connection == connection {
            accounts[name]?.hidden[place].isInterested = true
        }
        let contacts = contacts(of: name)
        let asking = relations.filter { $0.key.contact == name && isAsked($0.value) }
            .map(\.key.owner)
        let lines = contacts.union(asking).map { line(name, $0) }
        note(.contacts(lines, count: contacts.count, more: false), connection)
    }

    // MARK: Visibility and availability

    func setVisibility(_ connection: ConnectionID, _ visibility: Visibility?) {
        guard let name = subject(connection) else { return }
        inTurn(connection, name) { [self] in
            guard mayPublish(connection, name) else { return }
            propose(connection, name, .setVisibility(visibility))
        }
    }

    func apply(_ connection: ConnectionID, _ name: String, _ visibility: Visibility?) {
        changingSight(of: name) { accounts[name, default: Account()].visibility = visibility }
        note(.visibilitySet(self.visibility(of: name)), connection)
    }

    func words(_ availability: Availability) -> String {
        availability == Availability() ? "" : inWords(availability)
    }

    func setAvailability(_ connection: ConnectionID, _ availability: Availability) {
        guard let name = subject(connection) else { return }
        guard mayPublish(connection, name) else { return }
        note(.availabilitySet, connection)
        let sessions = accounts[name]?.sessions ?? []
        guard let place = sessions.firstIndex(where: { $0.connection == connection }),
            sessions[place].availability != availability
        else { return }
        let session = sessions[place]
        accounts[name]?.sessions[place].availability = availability
        let topic = Topic(publisher: name, type: 1)
        emit(
            topic, value: Int(statuses[topic]?.value ?? 1), cause: .changed,
            origin: "\(session.client):\(session.device)" + words(availability),
            ownBut: session.client == .xmpp ? nil : connection, own: .included)
    }
}
