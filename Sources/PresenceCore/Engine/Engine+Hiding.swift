// Sessions that are connected and not shown: what RFC 6121, section 4, asks for.
//
//     bind ──▶ hidden ──show──▶ connected        hide: connected ──▶ hidden, a logout for others
//                ▲                  ▲
//                │ too late:        │ show: no event, unless the availability is another one
//                │ a disconnect     │
//                └──── returning ───┘    bind of a device whose session others still see
//
// A hidden session is not among its account's sessions, and not in the store: nothing that others
// see knows of it. A returning one is: its device is connected again, and others have not noticed
// that it was not. Neither is sent events: its list has not begun.

import Containers

extension Engine {
    /// The sessions of an account that others do not see.
    func hiddenSessions(of account: AccountHandle) -> [UInt32] {
        hidden.isEmpty ? [] : hidden[account.index] ?? []
    }

    /// The sessions of an account that others see, in order of login. Where it is done often, the
    /// list is walked without an array of it.
    func shownSessions(of account: AccountHandle) -> [UInt32] {
        var shown: [UInt32] = []
        var session = firstSession[Int(account.index)]
        while session != none {
            shown.append(session)
            session = links[Int(session)].next
        }
        return shown
    }

    /// All sessions of an account, in order of login; those that others do not see come last.
    func allSessions(of account: AccountHandle) -> [UInt32] {
        shownSessions(of: account) + hiddenSessions(of: account)
    }

    /// Begins a session that others do not see, or takes over the one that the device has.
    ///
    /// Nothing is sent to it but what is about contacts, until it shows itself.
    mutating func beginHidden(
        _ login: Login, of account: AccountHandle, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) throws(Rejection) {
        var known = session(of: account, on: login.device)
        // A device that was another kind of client is another one for subscribers.
        if let session = known, sessions[session].client != .xmpp {
            endReplaced(session, at: now, into: &effects)
            known = nil
        }
        let session: UInt32
        if let known {
            session = known
            takeOver(known, login, at: now, into: &effects)
            if sessions[session].phase == .hidden {
                // It has no grace, so its end is sent, though the device is back.
                withdrawDirected(from: session, into: &effects)
            } else {
                beginReturning(session, at: now)
            }
        } else {
            try makeRoomForSession(login.client, of: account, at: now, into: &effects)
            session = insertSession(login, of: account, phase: .hidden, at: now)
            accounts[Int(account.index)].sessionCount += 1
            hidden[account.index, default: []].append(session)
        }
        attach(session, to: connection, login, at: now)
        beginReading(session, login)
        sessions[session].isInterested = false
        withholdList(of: session)
        effects.answer(
            connection, loggedIn(session, of: account, term: login.term, at: now, into: &effects))
        effects.items.append(.synced(connection, count: 0))
        openReader(of: session, into: &effects)
    }

    /// Others see the session for a while longer, as after the loss of its connection; not any
    /// longer if its device keeps connecting and is never shown.
    private mutating func beginReturning(_ session: UInt32, at now: Moment) {
        enter(.returning, session)
        directed.inherit(session)
        guard sessions[session].returnCount < Session.returnsMax else { return }
        sessions[session].returnCount += 1
        let seconds = max(1, settings.disconnectGraceSeconds)
        setTimer(of: session, at: now.mono.advanced(bySeconds: seconds))
    }

    /// The device is shown, or others do not see it any more.
    private mutating func endReturn(of session: UInt32) {
        cancelTimer(of: session)
        sessions[session].returnCount = 0
    }

    /// No event is for the session until its list has begun.
    private mutating func withholdList(of session: UInt32) {
        sessions[session].list = .none
        sessions[session].listedCount = .max
        sessions[session].listedSeq = .max
        links[Int(session)].cursor = .start
    }

    // MARK: Show

    /// Shows the device of a session, or presents it in another way. The first time, the session is
    /// sent its account's own state, the requests that wait for it, and the list of all publishers
    /// that it sees.
    mutating func show(
        _ availability: Availability, _ client: ClientSession, at now: Moment,
        into effects: inout Effects
    ) throws(Rejection) {
        let (session, account, connection) = (client.session, client.account, client.connection)
        let before = sessions[session].phase
        guard before != .connected else {
            return try setAvailability(availability, of: client, at: now, into: &effects)
        }
        try checkPublishPace(of: account, at: now)
        let topic = makeTopic(.presence, of: account)
        let isShownOtherwise = directed.noteShownAlike(session)
        let isChanged = isShownOtherwise || self.availability(of: session) != availability
        put(availability, of: session)
        endReturn(of: session)
        if before == .hidden { reveal(session, of: account) }
        dropConflation(of: session)
        enter(.connected, session)
        persist(session, into: &effects)
        effects.answer(connection, .shown(.begins))
        if before == .hidden || isChanged {
            let origin = deviceEntry(of: session, into: &effects)
            let draft =
                before == .hidden
                ? EventDraft(value: OwnValue.login, cause: .login, origin: origin)
                : EventDraft(value: shownValue(of: topic), cause: .changed, origin: origin)
            emit(draft, on: topic, alsoTo: .resources(but: connection), at: now, into: &effects)
        }
        let start = effects.events.count
        appendState(topic, at: now, into: &effects)
        noteKnown(topic, to: session)
        let states = start..<effects.events.count
        send(states, .loginList, to: session, on: connection, into: &effects)
        sendRequests(to: connection, of: account, into: &effects)
        beginList(.all, of: session)
        continueList(of: connection, at: now, into: &effects)
    }

    /// Puts a hidden session among those that others see.
    mutating func reveal(_ session: UInt32, of account: AccountHandle) {
        removeHidden(session, of: account)
        link(session, to: account)
    }

    private mutating func removeHidden(_ session: UInt32, of account: AccountHandle) {
        accounts[Int(account.index)].sessionCount -= 1
        let left = hiddenSessions(of: account).filter { $0 != session }
        hidden[account.index] = left.isEmpty ? nil : left
    }

    /// Sends a session the requests that its account has not answered: at each login, until it has.
    private func sendRequests(
        to connection: ConnectionID, of account: AccountHandle, into effects: inout Effects
    ) {
        let receiver = effects.receivers.count
        effects.receivers.append(connection.slot)
        for relation in relations.all(of: account) where relation.flags.contains(.isAsked) {
            let contact = AccountHandle(index: relation.contact)
            let pair = pair(account, contact)
            let entry = contactEntry(contact, pair.own, pair.other, into: &effects)
            effects.notices.append(
                ContactNotice(contact: entry, word: .subscribe, isListChanged: false))
            effects.items.append(
                .contact(
                    notice: effects.notices.count - 1, receivers: receiver..<receiver + 1))
        }
    }

    // MARK: Hide

    /// Hides the device of a session that stays connected. Others see a logout.
    mutating func hide(
        _ farewell: Availability, _ client: ClientSession, at now: Moment,
        into effects: inout Effects
    ) {
        let (session, connection) = (client.session, client.connection)
        // Never rejected: each was preceded by a show, which is rate-limited. One that is returning
        // has not shown itself: it is sent no presence, not even its own.
        let hasShown = sessions[session].phase == .connected
        effects.answer(connection, .shown(hasShown ? .ends : .continues))
        guard sessions[session].phase != .hidden else {
            withdrawDirected(from: session, farewell, into: &effects)
            return
        }
        let isListing = sessions[session].phase == .connected && !listCursor(of: session).isComplete
        hide(
            session, farewell, value: OwnValue.logout, cause: .logout, at: now, into: &effects)
        if isListing { effects.items.append(.synced(connection, count: 0)) }
    }

    /// A device whose connection was back has not shown itself in time.
    mutating func returnEnded(_ session: UInt32, at now: Moment, into effects: inout Effects) {
        hide(
            session, Availability(), withdrawing: .inherited, value: OwnValue.disconnect,
            cause: .disconnect, at: now, into: &effects)
    }

    private mutating func hide(
        _ session: UInt32, _ farewell: Availability,
        withdrawing scope: DirectedAddresses.Scope = .all, value: Int32, cause: Cause,
        at now: Moment, into effects: inout Effects
    ) {
        let isDirected = withdrawDirected(from: session, farewell, scope, into: &effects)
        let account = AccountHandle(index: sessions[session].account)
        let origin = deviceEntry(of: session, presenting: farewell, into: &effects)
        endReturn(of: session)
        dropConflation(of: session)
        unlink(session)
        accounts[Int(account.index)].sessionCount += 1
        hidden[account.index, default: []].append(session)
        enter(.hidden, session)
        put(Availability(), of: session)
        withholdList(of: session)
        announceEnd(
            of: account, origin, began: sessions[session].shownSince, isDirected: isDirected,
            value: value, cause: cause, lastSeen: now.wall, at: now, into: &effects)
    }

    // MARK: Between clients

    /// The device that is to be handed a stanza of a client, if it is connected. It need not be
    /// shown. A question, which the device answers by itself, is only for those whom the account
    /// lets see it, and to whom the device has presented itself; a message also for accounts that
    /// may write to it.
    public func relayTarget(
        of account: [UInt8], device: [UInt8], _ kind: RelayedKind, from connection: ConnectionID
    ) throws(Rejection) -> RelayTarget {
        let sender = try self.account(of: connection)
        guard let account = find(account.span), let session = session(of: account, on: device),
            sessions[session].client == .xmpp, let target = connectionID(of: session),
            mayRelay(kind, to: account, sender) || hasDirected(session, to: sender)
        else { throw Rejection(.unknownContact) }
        return RelayTarget(
            connection: target, sender: sender, isOfContact: areRelated(account, sender),
            isBehind: isBehind(session))
    }

    /// The devices that are handed a message that is not stored and is for no device (RFC 6121,
    /// section 8.5.2.1): those that are shown with a priority of 0 or more, but for the sender's.
    public func relayTargets(
        of account: [UInt8], from connection: ConnectionID
    ) throws(Rejection) -> [RelayTarget] {
        let sender = try self.account(of: connection)
        guard let account = find(account.span), mayRelay(.message, to: account, sender) else {
            throw Rejection(.unknownContact)
        }
        let isOfContact = areRelated(account, sender)
        return shownSessions(of: account).compactMap { session in
            guard sessions[session].client == .xmpp, sessions[session].phase == .connected,
                priority(of: session) >= 0, let target = connectionID(of: session),
                target != connection
            else { return nil }
            return RelayTarget(
                connection: target, sender: sender, isOfContact: isOfContact,
                isBehind: isBehind(session))
        }
    }

    private func mayRelay(
        _ kind: RelayedKind, to account: AccountHandle, _ sender: AccountHandle
    ) -> Bool {
        switch kind {
        case .question: mayAsk(account, sender)
        case .answer: true
        case .message: settings.messages == .on && mayWrite(to: account, sender)
        }
    }

    /// Whether an account takes messages of another. That follows from who may see it: all
    /// accounts, or only those that it is related to.
    func mayWrite(to account: AccountHandle, _ sender: AccountHandle) -> Bool {
        visibility(of: account.index) == .open || areRelated(account, sender)
    }

    /// The account of a client that is not related to another; nil: it is, or there is none.
    public func stranger(to account: [UInt8], _ connection: ConnectionID) -> AccountHandle? {
        guard case .client(_, let own) = caller(of: connection) else { return nil }
        let isRelated = find(account.span).map { areRelated($0, own) } ?? false
        return isRelated ? nil : own
    }

    /// Whether one of the accounts sees the other by a relationship, or both are the same.
    func areRelated(_ account: AccountHandle, _ other: AccountHandle) -> Bool {
        guard account != other else { return true }
        let flags = relations.relation(of: account, to: other)?.flags ?? []
        return !flags.isDisjoint(with: [.sees, .isSeen])
    }

    /// Whether the devices of an account answer questions of another: whether its visibility admits
    /// that.
    func mayAsk(_ account: AccountHandle, _ sender: AccountHandle) -> Bool {
        guard account != sender else { return true }
        return switch visibility(of: account.index) {
        case .open: true
        case .approved: relations.relation(of: sender, to: account)?.seen == .active
        case .hidden: false
        }
    }

    /// A contact that the session sees. Unknown ones are rejected as those that it does not see.
    func seen(
        _ contact: AccountHandle?, by client: ClientSession
    ) throws(Rejection) -> AccountHandle {
        guard let contact, let topic = topic(.presence, of: contact),
            contact == client.account || sees(topic, client.session)
        else { throw Rejection(.forbidden) }
        return contact
    }

    /// Answers since when an account that the session sees has been offline (XEP-0012).
    func lastSeen(
        of contact: AccountHandle?, from client: ClientSession, into effects: inout Effects
    ) throws(Rejection) {
        let contact = try seen(contact, by: client)
        let isOnline = firstSession[Int(contact.index)] != none
        let record = accounts[Int(contact.index)]
        guard isOnline || record.lastValue != 0 else { throw Rejection(.unknownContact) }
        effects.answer(client.connection, .lastSeen(isOnline ? nil : record.lastSeen))
    }

    /// Ends a session that others do not see, and that has no connection any more.
    mutating func endHidden(_ session: UInt32, into effects: inout Effects) {
        precondition(links[Int(session)].connection == none, "ended while connected")
        withdrawDirected(from: session, into: &effects)
        let account = AccountHandle(index: sessions[session].account)
        removeHidden(session, of: account)
        removeSession(session)
        retired.append(account.index)
    }
}
