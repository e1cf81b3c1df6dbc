// The login list: the states of the publishers that a session subscribes to, sent when it begins.
//
// It is made in pieces, each when the connection has written the one before. The subscriptions are
// walked in the order of their topics, see `ListCursor`.

import Containers

extension Engine {
    /// Starts the list of a session, or declares it complete.
    mutating func beginList(_ list: LoginList, of session: UInt32) {
        sessions[session].list = list
        sessions[session].listedCount = 0
        sessions[session].listedSeq = .max
        links[Int(session)].cursor = list == .none ? .complete : .start
    }

    /// Has the rest of a list that is in progress include all publishers.
    ///
    /// A connection that was sent the state of a publisher that is still to be listed relies on the
    /// list for later changes, and the publisher may be offline by then.
    mutating func completeList(of connection: ConnectionID) {
        guard case .client(let session, _) = caller(of: connection),
            !listCursor(of: session).isComplete
        else { return }
        sessions[session].list = .all
    }

    /// Appends the next frame of the connection's login list, if that is not complete. Ends with
    /// `Effect.synced`.
    mutating func continueList(
        of connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) {
        guard case .client(let session, let account) = caller(of: connection) else { return }
        let cursor = links[Int(session)].cursor
        if cursor.isComplete {
            guard sessions[session].list == .none, sessions[session].listedCount == 0 else {
                return
            }
            sessions[session].listedCount = .max
            sessions[session].listedSeq = sequence.last
            effects.items.append(.synced(connection, count: 0))
            return openReader(of: session, into: &effects)
        }
        let start = effects.events.count
        let (next, known) = appendList(
            for: session, of: account, from: cursor.next, at: now, &effects)
        for topic in known { noteKnown(topic, to: session) }
        let states = start..<effects.events.count
        sessions[session].listedCount += UInt32(states.count)
        links[Int(session)].cursor.advance(to: next)
        send(states, .loginList, to: session, on: connection, into: &effects)
        if next == nil {
            sessions[session].listedSeq = sequence.last
            effects.items.append(.synced(connection, count: Int(sessions[session].listedCount)))
            openReader(of: session, into: &effects)
        }
    }

    /// Has states sent to a session, if there are any, and notes which devices it may know from
    /// them. All states of a session go this way, but those in answers: no XMPP client is sent
    /// these, and others do not know devices one by one.
    mutating func send(
        _ states: Range<Int>, _ kind: StatesKind, to session: UInt32,
        on connection: ConnectionID, into effects: inout Effects
    ) {
        guard !states.isEmpty else { return }
        sessions[session].statesSeq = sequence.last
        effects.items.append(.states(connection, states, kind))
    }

    /// Appends states from the topic `begin` on. Returns where to continue, or nil at the end; and,
    /// while large fan-outs are in progress, the topics of the states.
    ///
    /// It only reads the engine, and so do the functions that it calls: called by one that changes
    /// it, each would be passed a copy.
    private func appendList(
        for session: UInt32, of account: AccountHandle, from begin: UInt32, at now: Moment,
        _ effects: inout Effects
    ) -> (next: UInt32?, known: [TopicHandle]) {
        var known: [TopicHandle] = []
        guard index.count(of: account) > 0 else { return (nil, known) }
        let list = sessions[session].list
        let hears = links[Int(session)].hears
        let subscriptions = index.subscriptions[Int(account.index)]
        let statesMax = effects.events.count + settings.limits.statesPerFrameMax
        for place in index.lowerBound(of: begin, in: subscriptions)..<subscriptions.count {
            let topic = TopicHandle(index: subscriptions[place].topic)
            if effects.events.count == statesMax { return (topic.index, known) }
            let leases = subscriptions[place].leases
            guard !leases.isDisjoint(with: hears) else { continue }
            let isSeen = sees(topic, session, by: leases)
            guard list == .all || isSeen && belongsInOnlineList(topic) else { continue }
            if isSeen || topics[topic.index].account == account.index {
                appendState(topic, at: now, into: &effects)
            } else {
                appendHidden(
                    topic, .sync, seq: numberOfHidden(topic, for: account), at: now,
                    into: &effects)
            }
            if hasFanOuts { known.append(topic) }
        }
        return (nil, known)
    }

    /// Whether a publisher is online or has a durable status. Of a type other than presence every
    /// status is listed: no event brings it to a subscriber when the publisher comes online.
    private func belongsInOnlineList(_ topic: TopicHandle) -> Bool {
        let record = topics[topic.index]
        guard record.type == .presence else { return record.status != none }
        if firstSession[Int(record.account)] != none { return true }
        return record.status != none && statuses[record.status].audience == .everybody
    }
}
