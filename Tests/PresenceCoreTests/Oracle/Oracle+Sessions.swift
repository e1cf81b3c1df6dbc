import PresenceCore

extension Oracle {
    func login(
        _ connection: ConnectionID, _ name: String, _ device: String, _ client: ClientKind,
        reach: Reach, sync: LoginList, hearsContacts: Bool = false
    ) {
        guard peers[connection] == nil else { return reject(connection, .alreadyLoggedIn) }
        let topic = Topic(publisher: name, type: 1)
        guard accounts[name, default: Account()].logins.take(settings.loginPace, at: now) else {
            return reject(connection, .rateLimited)
        }
        var account = accounts[name] ?? Account()
        var isNoticed = true
        if let place = account.sessions.firstIndex(where: { $0.device == device }) {
            var session = account.sessions[place]
            if let old = session.connection {
                note(.closed(.replaced), old)
                peers[old] = nil
            }
            let wasPushOnly = session.isPushOnly
            isNoticed = wasPushOnly || session.client != client
            if session.client == .xmpp { session.availability = Availability() }
            session.client = client
            session.reach = reach
            session.hearsContacts = hearsContacts
            session.isInterested = hearsContacts
            session.isReturning = false
            session.connection = connection
            session.isPushOnly = false
            session.ends = nil
            account.sessions[place] = session
            if wasPushOnly {
                account.sessions.remove(at: place)
                session.shown = eventsSent
                account.sessions.append(session)
            }
        } else {
            let known = account.hidden.firstIndex { $0.device == device }
            if let known {
                if let old = account.hidden[known].connection {
                    note(.closed(.replaced), old)
                    peers[old] = nil
                }
                account.hidden.remove(at: known)
            } else {
                accounts[name] = account
                guard makeRoom(name, for: client) else { return reject(connection, .sessionQuota) }
                account = accounts[name] ?? Account()
            }
            account.sessions.append(
                Session(
                    device: device, client: client, reach: reach, hearsContacts: hearsContacts,
                    isInterested: hearsContacts, connection: connection, lastHeard: wall,
                    shown: eventsSent))
        }
        accounts[name] = account
        peers[connection] = Peer(account: name)
        note(.loggedIn(account: name, subscriptions: account.watches.count), connection)
        if isNoticed {
            // The session itself learns of it from its list.
            let before = seen[connection]
            let availability = accounts[name]?.sessions.first { $0.device == device }?.availability
            emit(
                topic, value: 1, cause: .login,
                origin: "\(client):\(device)" + words(availability ?? Availability()))
            if sync != .none { seen[connection] = before }
        }
        list(connection, name, sync)
    }

    func list(_ connection: ConnectionID, _ name: String, _ sync: LoginList) {
        guard sync != .none else { return note(.synced(0), connection) }
        guard let session = accounts[name]?.sessions.first(where: { $0.connection == connection })
        else { return }
        let topics = topics(of: session, name).filter { topic in
            guard sync == .all || sees(session, of: name, topic) else { return false }
            let isOnline = !(accounts[topic.publisher]?.sessions.isEmpty ?? true)
            if sync == .all { return true }
            guard topic.type == 1 else { return statuses[topic] != nil }
            return isOnline || statuses[topic]?.audience == .everybody
        }
        let states = topics.map { stateAsSeen(by: session, of: name, $0) }
        if !topics.isEmpty { note(.states(states), connection) }
        note(.synced(topics.count), connection)
    }

    func logout(_ connection: ConnectionID) {
        guard let peer = peers[connection] else { return reject(connection, .notLoggedIn) }
        note(.loggedOut, connection)
        note(.closed(nil), connection)
        peers[connection] = nil
        guard let name = peer.account, !removeHidden(connection, name),
            let place = place(of: connection, in: name)
        else { return }
        accounts[name]?.sessions[place].lastHeard = wall
        end(name, place, value: 2, cause: .logout)
    }

    func drop(_ connection: ConnectionID) {
        lose(connection, lastHeard: wall)
    }

    func lose(_ connection: ConnectionID, lastHeard: Int64) {
        guard let peer = peers.removeValue(forKey: connection) else { return }
        guard let name = peer.account, !removeHidden(connection, name),
            let place = place(of: connection, in: name)
        else { return }
        accounts[name]?.sessions[place].isReturning = false
        accounts[name]?.sessions[place].connection = nil
        accounts[name]?.sessions[place].lastHeard = lastHeard
        accounts[name]?.sessions[place].ends =
            now + UInt64(settings.disconnectGraceSeconds) * 1_000
        if settings.disconnectGraceSeconds == 0 { phaseEnded(name, place) }
    }

    func phaseEnded(_ name: String, _ place: Int) {
        guard let session = accounts[name]?.sessions[place] else { return }
        if session.isReturning {
            return hide(name, place, value: 3, cause: .disconnect)
        }
        if session.reach == .push, !session.isPushOnly, settings.pushReachable == .online {
            accounts[name]?.sessions[place].isPushOnly = true
            defer { feed.append(state(Topic(publisher: name, type: 1))) }
            accounts[name]?.sessions[place].ends =
                now + UInt64(settings.pushReachableSeconds) * 1_000
        } else {
            end(name, place, value: 3, cause: .disconnect)
        }
    }

    func end(_ name: String, _ place: Int, value: Int32, cause: Cause) {
        guard let session = accounts[name]?.sessions.remove(at: place) else { return }
        if accounts[name]?.sessions.isEmpty == true {
            accounts[name]?.lastValue = value
            accounts[name]?.lastSeen = session.lastHeard
        }
        emit(
            Topic(publisher: name, type: 1), value: Int(value), cause: cause,
            origin: "\(session.client):\(session.device)", gone: [departure(of: name, session)])
    }

    func kick(_ connection: ConnectionID, _ name: String, device: String?) {
        guard peers[connection]?.account == nil else { return reject(connection, .forbidden) }
        var kicked = 0
        while let place = accounts[name]?.sessions.firstIndex(where: {
            device == nil || $0.device == device
        }) {
            if let old = accounts[name]?.sessions[place].connection {
                note(.closed(.kicked(reason: nil)), old)
                peers[old] = nil
                accounts[name]?.sessions[place].lastHeard = wall
            }
            end(name, place, value: 2, cause: .kicked)
            kicked += 1
        }
        for session in hidden(name) where device == nil || session.device == device {
            guard let old = session.connection else { continue }
            note(.closed(.kicked(reason: nil)), old)
            peers[old] = nil
            _ = removeHidden(old, name)
            kicked += 1
        }
        note(.kicked(kicked), connection)
    }

    func reject(_ connection: ConnectionID, _ reason: Rejection.Reason) {
        note(.rejected(reason), connection)
    }

    func place(of connection: ConnectionID, in name: String) -> Int? {
        accounts[name]?.sessions.firstIndex { $0.connection == connection }
    }
}
