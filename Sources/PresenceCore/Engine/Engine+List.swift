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
            return effects.items.append(.synced(connection, count: 0))
        }
        let start = effects.events.count
        let next = appendList(
            for: session, of: account, sessions[session].list, from: cursor.next, at: now,
            into: &effects)
        let states = start..<effects.events.count
        sessions[session].listedCount += UInt32(states.count)
        links[Int(session)].cursor.advance(to: next)
        if !states.isEmpty { effects.items.append(.states(connection, states, .loginList)) }
        if next == nil {
            sessions[session].listedSeq = sequence.last
            effects.items.append(.synced(connection, count: Int(sessions[session].listedCount)))
        }
    }

    /// Appends states from the topic `begin` on; returns where to continue, or nil at the end.
    private mutating func appendList(
        for session: UInt32, of account: AccountHandle, _ list: LoginList, from begin: UInt32,
        at now: Moment,
        into effects: inout Effects
    ) -> UInt32? {
        guard index.count(of: account) > 0 else { return nil }
        let subscriptions = index.subscriptions[Int(account.index)]
        let statesMax = effects.events.count + settings.limits.statesPerFrameMax
        for place in index.lowerBound(of: begin, in: subscriptions)..<subscriptions.count {
            let topic = subscriptions[place].topic
            if effects.events.count == statesMax { return topic }
            guard subscriptions[place].leases.intersection(links[Int(session)].hears) != []
            else { continue }
            if list == .all || belongsInOnlineList(topic, of: session) {
                appendState(TopicHandle(index: topic), asSeenBy: session, at: now, into: &effects)
                noteKnown(TopicHandle(index: topic), to: session)
            }
        }
        return nil
    }

    /// Whether the publisher is online or has a durable status. A type other than presence is
    /// listed only if there is a status.
    private func belongsInOnlineList(_ topic: UInt32, of session: UInt32) -> Bool {
        let record = topics[topic]
        guard sees(TopicHandle(index: topic), session) else { return false }
        guard record.type == .presence || record.status != none else { return false }
        if firstSession[Int(record.account)] != none { return true }
        return record.status != none && statuses[record.status].audience == .everybody
    }
}
