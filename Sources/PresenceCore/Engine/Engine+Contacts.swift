// What the sessions of an account are sent about its contacts, and the list of them.

import Containers

extension Engine {
    /// What an account's list shows of a contact; nil: it does not show it.
    struct ListEntry: Equatable {
        var seen: RelationState
        var isSeen: Bool
        var approvesBefore: Bool
        var label: ContactLabel
    }

    func listEntry(
        _ account: AccountHandle, _ contact: AccountHandle, _ side: PairSide, _ mirror: PairSide
    ) -> ListEntry? {
        guard Relation.Flags(side, mirror: mirror).isContact else { return nil }
        return ListEntry(
            seen: side.seen, isSeen: mirror.seen == .active, approvesBefore: side.approvesBefore,
            label: side.label)
    }

    func contactEntry(
        _ contact: AccountHandle, _ side: PairSide, _ mirror: PairSide, into effects: inout Effects
    ) -> ContactEntry {
        ContactEntry(
            account: effects.copyName(of: contact.index, from: self),
            label: effects.copy(side.label.bytes), seen: side.seen, sees: mirror.seen,
            requestText: mirror.request.text.map { effects.copy($0) },
            requestExtra: mirror.request.extra.isEmpty ? nil : effects.copy(mirror.request.extra),
            isApprovedBefore: side.approvesBefore, isListed: side.isListed)
    }

    /// Notifies the sessions of an account of what a contact has sent, and of changes of its list.
    ///
    /// A native session that has made the change itself has its answer instead.
    mutating func notify(
        _ account: AccountHandle, of contact: AccountHandle, _ side: PairSide, _ mirror: PairSide,
        words: [RelationWord], isListChanged: Bool, but origin: ConnectionID,
        into effects: inout Effects
    ) {
        guard !words.isEmpty || isListChanged else { return }
        let isOnlyRequest = words == [.subscribe] && !isListChanged
        let start = effects.receivers.count
        for session in allSessions(of: account) {
            let link = links[Int(session)]
            let record = sessions[session]
            // A request is for all that are connected, the rest for those that have asked for the
            // list (RFC 6121, sections 2.1.6 and 3.1.3).
            guard link.connection != none, link.hears.contains(.approved),
                isOnlyRequest ? record.phase == .connected : record.isInterested,
                record.client == .xmpp || connectionID(of: session) != origin
            else { continue }
            effects.receivers.append(link.connection)
        }
        let receivers = start..<effects.receivers.count
        guard !receivers.isEmpty else { return }
        let entry = contactEntry(contact, side, mirror, into: &effects)
        let said: [RelationWord?] = words.isEmpty ? [nil] : words
        for (place, word) in said.enumerated() {
            let isLast = place == said.count - 1
            effects.items.append(.contact(notice: effects.notices.count, receivers: receivers))
            effects.notices.append(
                ContactNotice(contact: entry, word: word, isListChanged: isLast && isListChanged))
        }
    }

    /// Notifies the sessions of an account that they see a contact now, or do not any more.
    mutating func settleSight(
        of contact: AccountHandle, by account: AccountHandle, _ before: RelationState,
        _ after: RelationState, again: Bool, at now: Moment, into effects: inout Effects
    ) {
        let hasChanged = (before == .active) != (after == .active)
        guard hasChanged || again, let topic = topic(.presence, of: contact) else { return }
        // Also if no session is to be sent it: it may ask later.
        if hasChanged { renumber(topic) }
        let visible = visibility(of: contact.index).leases
        let leases = index.leases(on: topic, by: account)
        let others = leases.subtracting(.approved).intersection(visible)
        // Sessions that see the contact by another lease have lost or gained nothing.
        let viewers = Viewers(leases: Leases.approved.intersection(visible), excluded: others)
        let watcher = Watcher(account: account.index, leases: .all)
        let cause: Cause = after == .active ? .shown : .hidden
        emit(cause, topic, to: viewers, of: watcher, at: now, into: &effects)
        if hasChanged { noteSightChange(of: contact) }
        releaseIfIdle(topic)
    }

    /// Sends the begin or the end of the sight of a publisher to the sessions of one subscriber.
    private mutating func emit(
        _ cause: Cause, _ topic: TopicHandle, to viewers: Viewers, of watcher: Watcher,
        at now: Moment, into effects: inout Effects
    ) {
        guard !viewers.leases.isEmpty, firstSession[Int(watcher.account)] != none else { return }
        beginSight(cause, of: topic, at: now, into: &effects)
        let event = effects.events.count - 1
        let start = effects.receivers.count
        collectSessions(of: watcher, viewers, for: topic, into: &effects)
        for session in allSessions(of: AccountHandle(index: watcher.account))
        where viewers.include(watcher.leases.intersection(links[Int(session)].hears)) {
            noteKnown(topic, to: session)
        }
        let receivers = start..<effects.receivers.count
        stats.deliveries += receivers.count
        // Not an event of the publisher's history: it is one subscriber's.
        guard !receivers.isEmpty else { return }
        effects.items.append(.deliver(event: event, topic: topic, receivers: receivers))
    }

    /// Sends a session the state of a contact that it sees; nothing of any other.
    mutating func probe(
        _ contact: AccountHandle?, from client: ClientSession, at now: Moment,
        into effects: inout Effects
    ) {
        let session = client.session
        effects.answer(client.connection, .done)
        guard let contact, let topic = topic(.presence, of: contact),
            contact == client.account || sees(topic, session),
            sessions[session].phase == .connected, links[Int(session)].cursor.covers(topic)
        else { return }
        let start = effects.events.count
        let ends = endsAhead(of: session, on: topic)
        appendEnds(ends, to: session, at: now, into: &effects)
        appendState(topic, at: now, into: &effects)
        noteKnown(topic, to: session)
        let states = start..<effects.events.count
        send(states, .loginList, to: session, on: client.connection, into: &effects)
    }

    /// A page of the contacts of an account, and of the accounts that ask it, in the order of their
    /// handles. O(page).
    mutating func listContacts(
        of account: AccountHandle, _ request: ListContacts, from connection: ConnectionID,
        into effects: inout Effects
    ) {
        if case .client(let session, _) = caller(of: connection),
            links[Int(session)].hears.contains(.approved)
        {
            sessions[session].isInterested = true
        }
        let all = relations.all(of: account)
        let begin = UInt32(clamping: request.cursor ?? 0)
        let start = effects.contacts.count
        var room = PageRoom(entriesMax: request.entriesMax, after: effects)
        var cursor: UInt64?
        for relation in all[all.partitionPoint { $0.contact < begin }...]
        where relation.flags.isContact || relation.flags.contains(.isAsked) {
            guard room.take(after: effects) else {
                cursor = UInt64(relation.contact)
                break
            }
            let contact = AccountHandle(index: relation.contact)
            let pair = pair(account, contact)
            effects.contacts.append(contactEntry(contact, pair.own, pair.other, into: &effects))
        }
        // Each is looked up in the lists of both.
        effects.visit((effects.contacts.count - start) * Self.visitsOfPair)
        effects.answer(
            connection,
            .contacts(
                entries: start..<effects.contacts.count,
                count: relations.contactCount(of: account), cursor: cursor))
    }

    /// What it takes to find what two accounts keep of each other.
    private static var visitsOfPair: Int { 16 }
}
