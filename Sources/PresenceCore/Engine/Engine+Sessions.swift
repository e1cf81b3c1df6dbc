// The sessions of an account, their connections, and how they end.

import Containers

extension Engine {
    /// The session of `account` on `device`, connected or not. O(sessions of the account).
    func session(of account: AccountHandle, on device: [UInt8]) -> UInt32? {
        var session = firstSession[Int(account.index)]
        while session != none {
            if strings.equals(sessions[session].device, device.span) { return session }
            session = links[Int(session)].next
        }
        return hiddenSessions(of: account).first {
            strings.equals(sessions[$0].device, device.span)
        }
    }

    /// Whether a device has a session, connected or not: a login of it takes no memory.
    public func hasSession(of account: [UInt8], on device: [UInt8]) -> Bool {
        guard let account = find(account.span) else { return false }
        return session(of: account, on: device) != nil
    }

    /// Makes the part of a new session that a fan-out reads.
    mutating func resetLink(of session: UInt32) {
        while links.count <= Int(session) {
            links.reserveEighth()
            links.append(
                SessionLink(next: none, connection: none, cursor: .complete, hears: .timed))
        }
        links[Int(session)] = SessionLink(
            next: none, connection: none, cursor: .complete, hears: .timed)
    }

    /// Appends a session to its account's list.
    mutating func link(_ session: UInt32, to account: AccountHandle) {
        links[Int(session)].next = none
        sessions[session].shownSince = SessionID(ordinal: sequence.last)
        let number = Int(account.index)
        accounts[number].sessionCount += 1
        guard firstSession[number] != none else {
            firstSession[number] = session
            stats.accountsOnline += 1
            return
        }
        var last = firstSession[number]
        while links[Int(last)].next != none { last = links[Int(last)].next }
        links[Int(last)].next = session
    }

    /// Removes a session from its account's list.
    mutating func unlink(_ session: UInt32) {
        let number = Int(sessions[session].account)
        let next = links[Int(session)].next
        accounts[number].sessionCount -= 1
        if firstSession[number] == session {
            firstSession[number] = next
            if next == none { stats.accountsOnline -= 1 }
            return
        }
        var before = firstSession[number]
        while links[Int(before)].next != session {
            before = links[Int(before)].next
            precondition(before != none, "a session that its account does not know")
        }
        links[Int(before)].next = next
    }

    /// Records the peer of a connection.
    mutating func register(_ connection: ConnectionID, as peer: ConnectionSlot.Peer) {
        let slot = Int(connection.slot)
        while connections.count <= slot {
            connections.append(ConnectionSlot(generation: 0, peer: .notLoggedIn))
        }
        guard case .notLoggedIn = connections[slot].peer else {
            preconditionFailure("a slot that is still in use")
        }
        connections[slot] = ConnectionSlot(generation: connection.generation, peer: peer)
    }

    /// Forgets a connection; its session, if it has one, remains without a connection.
    mutating func detach(
        _ connection: ConnectionID, _ end: ConnectionEnd, unsentBytes: Int = 0,
        lastHeard: Wall? = nil, at now: Moment, into effects: inout Effects
    ) {
        let slot = Int(connection.slot)
        if case .client(let session) = connections[slot].peer {
            noteEnd(
                of: session, end, unsentBytes: unsentBytes, lastHeard: lastHeard ?? now.wall,
                at: now)
            links[Int(session)].connection = none
            links[Int(session)].cursor = .complete
            dropConflation(of: session)
            endReading(session, at: now, into: &effects)
            stats.sessionsConnected -= 1
        } else {
            stats.appServers -= 1
        }
        connections[slot].peer = .notLoggedIn
    }

    /// The connections of the sessions of an account, those that have one.
    public func connections(of account: [UInt8]) -> [ConnectionID] {
        guard let account = find(account.span) else { return [] }
        return allSessions(of: account).compactMap { connectionID(of: $0) }
    }

    /// The connection of a device; nil while it has none.
    public func connection(of account: [UInt8], on device: [UInt8]) -> ConnectionID? {
        guard let account = find(account.span) else { return nil }
        return session(of: account, on: device).flatMap { connectionID(of: $0) }
    }

    /// The connection of a session; nil while it has none.
    func connectionID(of session: UInt32) -> ConnectionID? {
        let slot = links[Int(session)].connection
        guard slot != none else { return nil }
        return ConnectionID(slot: slot, generation: connections[Int(slot)].generation)
    }

    /// Changes the phase of a session.
    mutating func enter(_ phase: Session.Phase, _ session: UInt32) {
        let before = sessions[session].phase
        precondition(before.mayBecome(phase), "a session that is \(before) becomes \(phase)")
        tallies.leave(before)
        tallies.enter(phase)
        sessions[session].phase = phase
        // It may get other messages now.
        readers[session]?.lookAgain()
    }

    /// Has the current phase of a session end then.
    mutating func setTimer(of session: UInt32, at end: Mono) {
        precondition(sessions[session].phase.hasDeadline, "a deadline of a connected session")
        cancelTimer(of: session)
        sessions[session].timer = wheel.schedule(
            Deadline.session(session).payload, at: end.milliseconds)
    }

    mutating func cancelTimer(of session: UInt32) {
        guard sessions[session].timer != .none else { return }
        wheel.cancel(sessions[session].timer)
        sessions[session].timer = .none
    }

    /// Closes the connection of a session that is about to end, if it has one.
    mutating func closeConnection(
        of session: UInt32, _ end: ConnectionEnd, _ reason: CloseReason, at now: Moment,
        into effects: inout Effects
    ) {
        guard let connection = connectionID(of: session) else { return }
        sessions[session].lastHeard = now.wall
        detach(connection, end, at: now, into: &effects)
        effects.items.append(.close(connection, reason))
    }

    /// Ends a session that has no connection any more and notifies the subscribers, unless they
    /// do not see it.
    mutating func endSession(
        _ session: UInt32, value: Int32, cause: Cause, lastSeen: Wall, at now: Moment,
        into effects: inout Effects
    ) {
        guard sessions[session].phase != .hidden else { return endHidden(session, into: &effects) }
        precondition(links[Int(session)].connection == none, "ended while connected")
        let isDirected = withdrawDirected(from: session, into: &effects)
        let record = sessions[session]
        let account = AccountHandle(index: record.account)
        var origin = deviceEntry(of: session, into: &effects)
        origin.availability = nil
        cancelTimer(of: session)
        unlink(session)
        removeSession(session)
        announceEnd(
            of: account, origin, began: record.shownSince, isDirected: isDirected, value: value,
            cause: cause, lastSeen: lastSeen, at: now, into: &effects)
    }

    /// Removes a session that its account does not know any more.
    mutating func removeSession(_ session: UInt32) {
        let record = sessions[session]
        strings.remove(record.device)
        strings.remove(record.address)
        if record.availability != none { availabilities.remove(record.availability) }
        tallies.leave(record.phase)
        countResource(record.client, -1)
        sessions.remove(session)
    }

    /// Notifies the subscribers that a session has ended, or that they do not see it any more.
    mutating func announceEnd(
        of account: AccountHandle, _ origin: DeviceEntry, began: SessionID, isDirected: Bool,
        value: Int32, cause: Cause, lastSeen: Wall, at now: Moment, into effects: inout Effects
    ) {
        effects.persist(.removeSession(account: account, device: origin.name))
        if firstSession[Int(account.index)] == none {
            accounts[Int(account.index)].lastValue = UInt8(value)
            accounts[Int(account.index)].lastSeen = lastSeen
            effects.persist(.putAccount(account: account, value: value, lastSeen: lastSeen))
        }
        let topic = makeTopic(.presence, of: account)
        noteEnd(of: origin, began: began, isDirected: isDirected, on: topic, in: effects)
        let draft = EventDraft(
            value: value, cause: cause,
            origin: DeviceEntry(
                client: origin.client, name: origin.name, reach: .connection,
                availability: origin.availability))
        emit(draft, on: topic, at: now, into: &effects)
        releaseIfIdle(topic)
    }
}
