// How sessions begin, continue and take over each other.

import Containers

extension Engine {
    /// Begins a session, or continues the one that the device has.
    ///
    /// Subscribers are notified unless nothing has changed for them: the device was connected, or
    /// has reconnected within the grace.
    mutating func beginSession(
        _ login: Login, of account: AccountHandle, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) throws(Rejection) {
        let arrival: Arrival
        let session: UInt32
        if let known = self.session(of: account, on: login.device) {
            session = known
            arrival = resume(known, login, of: account, at: now, into: &effects)
        } else {
            try makeRoomForSession(login.client, of: account, at: now, into: &effects)
            session = insertSession(login, of: account, phase: .connected, at: now)
            link(session, to: account)
            arrival = .noticed
        }
        sessions[session].isInterested = login.hears.contains(.approved)
        let topic = makeTopic(.presence, of: account)
        attach(session, to: connection, login, at: now)
        beginReading(session, login)
        persist(session, into: &effects)
        effects.answer(
            connection, loggedIn(session, of: account, term: login.term, at: now, into: &effects))
        beginList(login.sync, of: session)
        if arrival == .noticed {
            let origin = deviceEntry(of: session, into: &effects)
            emit(
                EventDraft(value: OwnValue.login, cause: .login, origin: origin), on: topic,
                at: now, into: &effects)
        }
        continueList(of: connection, at: now, into: &effects)
    }

    func loggedIn(
        _ session: UInt32, of account: AccountHandle, term: TokenTerm?, at now: Moment,
        into effects: inout Effects
    ) -> Answer {
        .loggedIn(
            LoggedIn(
                account: effects.copyName(of: account.index, from: self),
                session: sessions[session].id, time: now.wall,
                subscriptions: index.timedCount(of: account), term: term,
                waiting: tellsWaiting(session) ? waitingCount(for: session) : nil))
    }

    /// Whether a login changes what subscribers see.
    enum Arrival {
        case noticed
        case unnoticed
    }

    /// Takes over the session that the device has, connected or not.
    private mutating func resume(
        _ session: UInt32, _ login: Login, of account: AccountHandle, at now: Moment,
        into effects: inout Effects
    ) -> Arrival {
        let before = sessions[session]
        // What an XMPP client shows is its own.
        if before.client == .xmpp { withdrawDirected(from: session, into: &effects) }
        takeOver(session, login, at: now, into: &effects)
        cancelTimer(of: session)
        sessions[session].returnCount = 0
        if before.client == .xmpp { put(Availability(), of: session) }
        if before.phase == .hidden {
            reveal(session, of: account)
            enter(.connected, session)
            return .noticed
        }
        enter(.connected, session)
        if before.phase == .pushOnly {
            // A new login for subscribers that saw it as push-only.
            unlink(session)
            link(session, to: account)
            return .noticed
        }
        return before.client == login.client ? .unnoticed : .noticed
    }

    /// Gives a session to another connection of its device. Its timer runs on.
    mutating func takeOver(
        _ session: UInt32, _ login: Login, at now: Moment, into effects: inout Effects
    ) {
        if let old = connectionID(of: session) {
            detach(old, .replaced, at: now, into: &effects)
            effects.items.append(.close(old, .replaced))
        }
        strings.remove(sessions[session].address)
        sessions[session].address = strings.insert(login.address.span)
        countResource(sessions[session].client, -1)
        sessions[session].client = login.client
        countResource(login.client, 1)
        sessions[session].reach = login.reach
    }

    /// Counts the sessions of XMPP clients.
    mutating func countResource(_ client: ClientKind, _ change: Int) {
        if client == .xmpp { resourceCount += change }
    }

    /// Makes room for one session more, if an account has as many as it may have. The oldest one
    /// without a connection ends: lost devices must not lock an account out. A device that
    /// reconnects after that has a new session.
    ///
    /// If all are connected, an XMPP client takes the place of the one that was not heard for the
    /// longest time, and any other login is rejected: libraries of XMPP do not show their users
    /// that a bind is rejected, and bind again.
    mutating func makeRoomForSession(
        _ client: ClientKind, of account: AccountHandle, at now: Moment,
        into effects: inout Effects
    ) throws(Rejection) {
        let limit = settings.limits.sessionsPerAccountMax
        let count = Int(accounts[Int(account.index)].sessionCount)
        guard count >= limit else { return }
        let all = allSessions(of: account)
        if let oldest = all.first(where: { !sessions[$0].phase.hasConnection }) {
            return endUnconnected(oldest, at: now, into: &effects)
        }
        let idle = all.min {
            sessions[$0].lastHeard.milliseconds < sessions[$1].lastHeard.milliseconds
        }
        guard client == .xmpp, let idle else {
            throw Rejection(.sessionQuota, limit: limit, count: count)
        }
        endReplaced(idle, at: now, into: &effects)
    }

    /// Ends a session whose place another one of its account takes.
    mutating func endReplaced(_ session: UInt32, at now: Moment, into effects: inout Effects) {
        closeConnection(of: session, .replaced, .replaced, at: now, into: &effects)
        endUnconnected(session, at: now, into: &effects)
    }

    /// Notes when bytes of a connection last arrived, before a login that may have to take the
    /// place of the session that was not heard for the longest time.
    public mutating func noteHeard(_ connection: ConnectionID, at time: Mono, now: Moment) {
        guard case .client(let session, _) = caller(of: connection) else { return }
        sessions[session].lastHeard = now.wall(at: time)
    }

    /// A new session, which its account does not know yet.
    mutating func insertSession(
        _ login: Login, of account: AccountHandle, phase: Session.Phase, at now: Moment
    ) -> UInt32 {
        insertSession(
            Session(
                id: SessionID(ordinal: 0), loggedIn: now.wall, lastHeard: now.wall,
                account: account.index, device: strings.insert(login.device.span),
                address: strings.insert(login.address.span), client: login.client,
                reach: login.reach, phase: phase))
    }

    mutating func insertSession(_ record: Session) -> UInt32 {
        let session = sessions.insert(record)
        tallies.enter(record.phase)
        countResource(record.client, 1)
        resetLink(of: session)
        return session
    }

    /// A connection has logged in as a session.
    mutating func attach(
        _ session: UInt32, to connection: ConnectionID, _ login: Login, at now: Moment
    ) {
        links[Int(session)].hears = login.hears
        sessions[session].id = SessionID(ordinal: sequence.next())
        sessions[session].loggedIn = now.wall
        links[Int(session)].connection = connection.slot
        stats.sessionsConnected += 1
        register(connection, as: .client(session))
    }

    /// Begins a session of an app server.
    mutating func beginAppServer(
        _ rights: AppServerRights, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        register(connection, as: .appServer(rights))
        stats.appServers += 1
        let session = SessionID(ordinal: sequence.next())
        effects.answer(connection, .loggedInAppServer(session, time: now.wall))
        effects.items.append(.synced(connection, count: 0))
    }

    /// Has the session's row written in its current state.
    mutating func persist(_ session: UInt32, into effects: inout Effects, pushUntil: Wall? = nil) {
        effects.persist(.putSession(record(of: session, pushUntil: pushUntil, into: &effects)))
    }

    /// What is stored of a session in its current state.
    func record(
        of session: UInt32, pushUntil: Wall? = nil, into effects: inout Effects
    ) -> SessionRecord {
        let record = sessions[session]
        let device = effects.copy(record.device, from: strings)
        return SessionRecord(
            account: AccountHandle(index: record.account), device: device,
            client: record.client, reach: record.reach, pushUntil: pushUntil,
            session: record.id, loggedIn: record.loggedIn,
            address: effects.copy(record.address, from: strings),
            availability: record.availability == none
                ? nil : availabilities[record.availability])
    }
}
