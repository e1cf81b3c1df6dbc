// The login list: the states of the publishers that a session subscribes to, sent when it begins.
//
// It is made in pieces, each when the connection has accepted the one before. The subscriptions are
// walked in the order of their topics; `listedBelow` is the position of the walk. An event of a
// topic before it is delivered as usual. An event of a topic that is still to come is dropped,
// since the state that is listed later includes it. So nothing is lost between the list and the
// stream, nothing older follows something newer, and a list of any length costs one frame of
// memory.

import Containers

extension Engine {
    /// Starts the list of a session, or declares it complete.
    mutating func beginList(_ list: LoginList, of session: UInt32) {
        sessions[session].list = list
        sessions[session].listedCount = 0
        sessions[session].listedSeq = .max
        links[Int(session)].listedBelow = list == .none ? none : 0
    }

    /// Has the rest of a list that is in progress include all publishers.
    ///
    /// A connection that was sent the state of a publisher that is still to be listed relies on the
    /// list for later changes, and the publisher may be offline by then.
    mutating func completeList(of connection: ConnectionID) {
        guard case .client(let session, _) = caller(of: connection),
            links[Int(session)].listedBelow != none
        else { return }
        sessions[session].list = .all
    }

    /// Appends the next frame of the connection's login list, if that is not complete.
    ///
    /// Ends with `Effect.synced`. Call it again when the connection has drained.
    public mutating func continueList(
        of connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) {
        guard case .client(let session, let account) = caller(of: connection) else { return }
        let begin = links[Int(session)].listedBelow
        if begin == none {
            guard sessions[session].list == .none, sessions[session].listedCount == 0 else {
                return
            }
            sessions[session].listedCount = .max
            sessions[session].listedSeq = sequence.last
            return effects.items.append(.synced(connection, count: 0))
        }
        let start = effects.events.count
        let next = appendList(
            for: session, of: account, sessions[session].list, from: begin, at: now, into: &effects)
        let states = start..<effects.events.count
        sessions[session].listedCount += UInt32(states.count)
        links[Int(session)].listedBelow = next ?? none
        if !states.isEmpty { effects.items.append(.states(connection, states, .loginList)) }
        if next == nil {
            sessions[session].listedSeq = sequence.last
            effects.items.append(.synced(connection, count: Int(sessions[session].listedCount)))
        }
    }

    /// Appends the states of topics for a connection that has missed changes of them.
    ///
    /// Topics that its account no longer subscribes to are left out, except its own. A number may
    /// have been reused for another topic: its state is as correct as any.
    public mutating func appendStates(
        of missed: [TopicHandle], for connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        sweep()
        guard case .client(let session, let account) = caller(of: connection) else { return }
        let start = effects.events.count
        for topic in missed where matters(topic, to: session, of: account) {
            appendState(topic, at: now, into: &effects)
            noteKnown(topic, to: session)
        }
        guard start < effects.events.count else { return }
        effects.items.append(.states(connection, start..<effects.events.count, .missed))
    }

    /// How many topics can matter to a connection: those that its account subscribes to, and its
    /// own.
    public func topicCountMax(of connection: ConnectionID) -> Int {
        guard case .client(_, let account) = caller(of: connection) else { return 0 }
        let record = accounts[Int(account.index)]
        let own = Int(record.customTopicCount) + (record.presenceTopic == none ? 0 : 1)
        return index.count(of: account) + own
    }

    /// Leaves out the topics whose states `appendStates` would leave out: `topicCountMax` stay
    /// at most.
    public func removeUnwatched(_ missed: inout [TopicHandle], of connection: ConnectionID) {
        guard case .client(let session, let account) = caller(of: connection) else {
            return missed.removeAll()
        }
        missed.removeAll { !matters($0, to: session, of: account) }
    }

    /// Whether the state of a topic is to be sent to a session that has missed changes of it.
    private func matters(
        _ topic: TopicHandle, to session: UInt32, of account: AccountHandle
    ) -> Bool {
        guard Int(topic.index) < topics.elements.count else { return false }
        let isListed = topic.index < links[Int(session)].listedBelow
        let isWatched = index.position(of: topic, watchedBy: account) != nil
        return isWatched ? isListed : isOwn(topic, account)
    }

    private func isOwn(_ topic: TopicHandle, _ account: AccountHandle) -> Bool {
        self.topic(topics[topic.index].type, of: account) == topic
    }

    /// Appends states from the topic `begin` on; returns where to continue, or nil at the end.
    private mutating func appendList(
        for session: UInt32, of account: AccountHandle, _ list: LoginList, from begin: UInt32,
        at now: Moment,
        into effects: inout Effects
    ) -> UInt32? {
        guard index.count(of: account) > 0 else { return nil }
        let edges = index.edges[Int(account.index)]
        let statesMax = effects.events.count + settings.limits.statesPerFrameMax
        for place in index.lowerBound(of: begin, in: edges)..<edges.count {
            let topic = edges[place].topic
            if effects.events.count == statesMax { return topic }
            if list == .all || belongsInOnlineList(topic) {
                appendState(TopicHandle(index: topic), at: now, into: &effects)
                noteKnown(TopicHandle(index: topic), to: session)
            }
        }
        return nil
    }

    /// Whether the publisher is online or has a durable status. A type other than presence is
    /// listed only if there is a status.
    private func belongsInOnlineList(_ topic: UInt32) -> Bool {
        let record = topics[topic]
        guard record.type == .presence || record.status != none else { return false }
        if firstSession[Int(record.account)] != none { return true }
        return record.status != none && statuses[record.status].audience == .everybody
    }
}
