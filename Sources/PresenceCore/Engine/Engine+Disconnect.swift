// How sessions end, and the phases between the loss of a connection and that: grace, push, restart.

import Containers

extension Engine {
    /// Ends the session on `connection` by a logout. Subscribers are notified immediately.
    mutating func logout(
        _ connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) {
        effects.answer(connection, .loggedOut)
        effects.items.append(.close(connection, nil))
        let caller = self.caller(of: connection)
        guard !connection.isInProcess else { return }
        detach(connection, .logout, at: now, into: &effects)
        guard case .client(let session, _) = caller else { return }
        endSession(
            session, value: OwnValue.logout, cause: .logout, lastSeen: now.wall, at: now,
            into: &effects)
    }

    /// Notes that a connection has ended without a logout.
    ///
    /// Does nothing for connections that the engine does not know or has closed itself. A caller
    /// in process is lost when it gives up its request: the deferred change is not made. How it
    /// ended, when bytes of it last arrived (nil: now) and how many bytes it had not accepted is
    /// kept for `why`. A session that was silent was last seen when it was last heard.
    public mutating func connectionLost(
        _ connection: ConnectionID, _ end: ConnectionEnd = .lost, unsentBytes: Int = 0,
        lastHeard: Mono? = nil, at now: Moment, into effects: inout Effects
    ) {
        sequence.note(now.mono)
        forgetRetired(after: effects)
        if connection.isInProcess {
            let change = deferred.remove(awaitedInProcessBy: connection)
            if let change { release(change.accounts) }
            return
        }
        guard isLoggedIn(connection) else { return }
        let caller = self.caller(of: connection)
        let heard = lastHeard.map { now.wall(at: $0) } ?? now.wall
        detach(
            connection, end, unsentBytes: unsentBytes, lastHeard: heard, at: now, into: &effects)
        if case .client(let session, _) = caller {
            loseConnection(
                of: session, lastHeard: end == .silent ? heard : now.wall, at: now, into: &effects)
        }
        reserveSequence(into: &effects)
    }

    /// Leaves a session whose connection is detached in grace.
    private mutating func loseConnection(
        of session: UInt32, lastHeard: Wall, at now: Moment, into effects: inout Effects
    ) {
        guard sessions[session].phase != .hidden else { return endHidden(session, into: &effects) }
        sessions[session].lastHeard = lastHeard
        enter(.inGrace, session)
        let grace = settings.disconnectGraceSeconds
        guard grace > 0 else {
            cancelTimer(of: session)
            return graceEnded(session, at: now, into: &effects)
        }
        guard sessions[session].returnCount < Session.returnsMax else { return }
        setTimer(of: session, at: now.mono.advanced(bySeconds: grace))
    }

    /// The phase of a session without a connection has ended.
    mutating func phaseEnded(
        _ session: UInt32, at now: Moment, into effects: inout Effects
    ) {
        sessions[session].timer = .none
        switch sessions[session].phase {
        case .connected, .hidden:
            preconditionFailure("a deadline of a connected session")
        case .returning:
            returnEnded(session, at: now, into: &effects)
        case .inGrace, .awaitingReturn:
            graceEnded(session, at: now, into: &effects)
        case .pushOnly:
            endUnconnected(session, at: now, into: &effects)
        }
    }

    /// The device has not reconnected in time: it becomes push-only, or its session ends.
    private mutating func graceEnded(
        _ session: UInt32, at now: Moment, into effects: inout Effects
    ) {
        guard sessions[session].reach == .push, settings.pushReachable == .online else {
            return endUnconnected(session, at: now, into: &effects)
        }
        let end = now.mono.advanced(bySeconds: settings.pushReachableSeconds)
        enter(.pushOnly, session)
        // The state has changed, though no subscriber is notified; a query gets it under a new
        // number.
        let topic = TopicHandle(index: accounts[Int(sessions[session].account)].presenceTopic)
        topics[topic.index].seq = sequence.next()
        if feed == .on {
            appendState(topic, at: now, into: &effects)
            effects.feedLast(topic)
        }
        setTimer(of: session, at: end)
        persist(session, into: &effects, pushUntil: now.wall(at: end))
    }

    /// Ends a session that has no connection, for the cause that its phase implies.
    mutating func endUnconnected(
        _ session: UInt32, at now: Moment, into effects: inout Effects
    ) {
        endSession(
            session, value: OwnValue.disconnect, cause: sessions[session].phase.causeOfEnd,
            lastSeen: sessions[session].lastHeard, at: now, into: &effects)
    }

    /// Ends sessions of an account on behalf of an app server.
    mutating func kick(
        _ request: Kick, _ texts: TextSource, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        let reason = request.reason.map { texts.bytes($0) }
        var meant = find(request.account, texts).map { allSessions(of: $0) } ?? []
        if let device = request.device {
            meant.removeAll { session in
                !texts.withBytes(device) { strings.equals(sessions[session].device, $0) }
            }
        }
        for session in meant {
            closeConnection(
                of: session, .kicked, .kicked(reason: reason), at: now, into: &effects)
            endSession(
                session, value: OwnValue.logout, cause: .kicked,
                lastSeen: sessions[session].lastHeard, at: now, into: &effects)
        }
        effects.answer(connection, .kicked(meant.count))
    }
}

extension Session.Phase {
    /// The cause of the event when a session in this phase ends by itself.
    fileprivate var causeOfEnd: Cause {
        self == .awaitingReturn ? .restart : .disconnect
    }
}
