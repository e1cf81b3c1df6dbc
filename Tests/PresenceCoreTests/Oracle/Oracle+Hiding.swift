import PresenceCore

// Sessions that begin hidden, show themselves and hide again, written from RFC 6121, section 4.

extension Oracle {
    /// Whether a connection is that of an XMPP client.
    func isResource(_ connection: ConnectionID) -> Bool {
        guard let name = peers[connection]?.account, let account = accounts[name] else {
            return false
        }
        return (account.sessions + account.hidden).contains {
            $0.connection == connection && $0.client == .xmpp
        }
    }

    func hidden(_ name: String) -> [Session] { accounts[name]?.hidden ?? [] }

    /// Whether there is room for one session more: the oldest without a connection gives way, or
    /// for an XMPP client the one that was not heard for the longest time.
    func makeRoom(_ name: String, for client: ClientKind) -> Bool {
        let account = accounts[name] ?? Account()
        let count = account.sessions.count + account.hidden.count
        guard count >= settings.limits.sessionsPerAccountMax else { return true }
        if let oldest = account.sessions.firstIndex(where: { $0.connection == nil }) {
            end(name, oldest, value: 3, cause: .disconnect)
            return true
        }
        let connections = (account.sessions + account.hidden).compactMap(\.connection)
        // See `World.bind`.
        let idle = connections.max { $0.slot < $1.slot }
        guard client == .xmpp, let idle else { return false }
        replace(idle)
        guard !removeHidden(idle, name), let place = place(of: idle, in: name) else { return true }
        accounts[name]?.sessions[place].lastHeard = wall
        end(name, place, value: 3, cause: .disconnect)
        return true
    }

    func bind(_ connection: ConnectionID, _ name: String, _ device: String) {
        guard accounts[name, default: Account()].logins.take(settings.loginPace, at: now) else {
            return reject(connection, .rateLimited)
        }
        var known = accounts[name]?.sessions.firstIndex { $0.device == device }
        if let place = known, accounts[name]?.sessions[place].client != .xmpp {
            if let old = accounts[name]?.sessions[place].connection {
                replace(old)
                accounts[name]?.sessions[place].lastHeard = wall
            }
            end(name, place, value: 3, cause: .disconnect)
            known = nil
        }
        if let place = known {
            replace(accounts[name]?.sessions[place].connection)
            accounts[name]?.sessions[place].client = .xmpp
            accounts[name]?.sessions[place].reach = .connection
            accounts[name]?.sessions[place].hearsContacts = true
            accounts[name]?.sessions[place].isInterested = false
            accounts[name]?.sessions[place].isReturning = true
            accounts[name]?.sessions[place].connection = connection
            let seconds = max(1, settings.disconnectGraceSeconds)
            accounts[name]?.sessions[place].ends = now + UInt64(seconds) * 1_000
        } else if let place = hidden(name).firstIndex(where: { $0.device == device }) {
            replace(hidden(name)[place].connection)
            accounts[name]?.hidden[place].connection = connection
            accounts[name]?.hidden[place].isInterested = false
        } else {
            guard makeRoom(name, for: .xmpp) else { return reject(connection, .sessionQuota) }
            accounts[name]?.hidden.append(
                Session(
                    device: device, client: .xmpp, reach: .connection, hearsContacts: true,
                    connection: connection, lastHeard: wall))
        }
        peers[connection] = Peer(account: name)
        note(
            .loggedIn(account: name, subscriptions: accounts[name]?.watches.count ?? 0), connection)
        note(.synced(0), connection)
    }

    private func replace(_ old: ConnectionID?) {
        guard let old else { return }
        note(.closed(.replaced), old)
        peers[old] = nil
    }

    /// Removes the hidden session of a connection; whether there was one.
    func removeHidden(_ connection: ConnectionID, _ name: String) -> Bool {
        guard let place = hidden(name).firstIndex(where: { $0.connection == connection }) else {
            return false
        }
        accounts[name]?.hidden.remove(at: place)
        return true
    }

    func show(_ connection: ConnectionID, _ availability: Availability) {
        guard let name = subject(connection) else { return }
        let topic = Topic(publisher: name, type: 1)
        if let place = hidden(name).firstIndex(where: { $0.connection == connection }) {
            guard mayPublish(connection, name) else { return }
            var session = hidden(name)[place]
            session.availability = availability
            session.shown = eventsSent
            accounts[name]?.hidden.remove(at: place)
            accounts[name]?.sessions.append(session)
            emitShown(topic, session, value: 1, .login, connection)
        } else if let place = place(of: connection, in: name),
            let session = accounts[name]?.sessions[place], session.isReturning
        {
            guard mayPublish(connection, name) else { return }
            accounts[name]?.sessions[place].isReturning = false
            accounts[name]?.sessions[place].ends = nil
            accounts[name]?.sessions[place].availability = availability
            var shown = session
            shown.availability = availability
            if session.availability != availability {
                emitShown(
                    topic, shown, value: Int(statuses[topic]?.value ?? 1), .changed, connection)
            }
        } else {
            return setAvailability(connection, availability)
        }
        note(.shown, connection)
        note(.states([state(topic)]), connection)
        for (pairing, keeping) in relations where pairing.contact == name {
            guard case .asked = keeping.sight else { continue }
            note(.contact(line(name, pairing.owner), .subscribe), connection)
        }
        list(connection, name, .all)
    }

    /// The session itself learns of it from its list.
    private func emitShown(
        _ topic: Topic, _ session: Session, value: Int, _ cause: Cause, _ connection: ConnectionID
    ) {
        withoutTelling(connection) {
            emit(
                topic, value: value, cause: cause,
                origin: "\(session.client):\(session.device)" + words(session.availability),
                ownBut: connection)
        }
    }

    func hide(_ connection: ConnectionID) {
        guard let name = subject(connection) else { return }
        note(.shown, connection)
        guard let place = place(of: connection, in: name) else { return }
        guard mayPublish(connection, name) else { return }
        hide(name, place, value: 2, cause: .logout)
    }

    func hide(_ name: String, _ place: Int, value: Int32, cause: Cause) {
        guard var session = accounts[name]?.sessions[place] else { return }
        accounts[name]?.sessions[place].lastHeard = wall
        if let connection = session.connection { behind[connection] = nil }
        end(name, place, value: value, cause: cause)
        session.isReturning = false
        session.ends = nil
        session.availability = Availability()
        accounts[name]?.hidden.append(session)
    }
}
