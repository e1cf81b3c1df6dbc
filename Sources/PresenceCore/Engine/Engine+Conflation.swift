// Conflation: a session that does not read as fast as it is sent gets the newest states instead of
// every event.
//
// Its connection reports the first event that it could not take (`missed`). From then on events are
// withheld from the session, and their topics noted. When the connection has written everything
// (`drained`), the newest state of each of these topics follows, a frame at a time, and then the
// session is sent events again. So a slow client uses a limited amount of memory, never receives an
// older state after a newer one, and finally has the newest state.
//
// Between the connection's report and the engine other events may be in flight to it. It does not
// take them, but reports them as missed, too.

import Containers

extension Engine {
    /// Notes that a connection has not taken an event: the newest state of its topic is to follow.
    ///
    /// Until then, events are withheld from it. O(topics that it has missed), and once in a while
    /// O(subscriptions of the account).
    public mutating func missed(
        _ topic: TopicHandle, seq: UInt64, by connection: ConnectionID, at now: Wall
    ) {
        // Forgets no accounts: the caller may be in the middle of effects that name them.
        // A session that is not shown is sent a list when it shows itself.
        guard case .client(let session, _) = caller(of: connection),
            sessions[session].phase == .connected
        else { return }
        if conflations[session] == nil { beginConflation(of: session, fromEvent: seq, at: now) }
        let waiting = fanOuts.event(seq, of: topic)
        let ends = waiting?.ends ?? endedPresences.entries(ofEvent: seq)
        note(topic, ends, isLate: true, missedBy: session)
        if waiting == nil, endedPresences.hasForgotten(event: seq) {
            conflations[session]?.noteLostEnds()
        }
        guard let conflation = conflations[session], conflation.topics.isEmpty,
            !conflation.hasLostEnds
        else { return }
        endConflation(of: session, at: now)
    }

    /// Continues what a connection is to be sent piece by piece, when it has written everything:
    /// the states that it has missed, then its login list.
    ///
    /// Requests `Effect.states`, and at the end `.caughtUp` or `.synced`; if there was nothing to
    /// continue, `.caughtUp`.
    public mutating func drained(
        _ connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) {
        sequence.note(now.mono)
        forgetRetired(after: effects)
        guard case .client(let session, let account) = caller(of: connection) else { return }
        if conflations[session]?.hasLostEnds == true {
            // Nothing else would correct what it shows. Events stay withheld until it is lost.
            effects.items.append(.close(connection, .tooSlow))
        } else if conflations[session] != nil {
            sendMissed(by: session, of: account, on: connection, at: now, into: &effects)
        } else if !links[Int(session)].cursor.isComplete, sessions[session].phase == .connected {
            continueList(of: connection, at: now, into: &effects)
        } else {
            effects.items.append(.caughtUp(connection))
        }
    }

    /// Withholds the newest event of a topic, as `withhold` does.
    ///
    /// Apart from the loop over subscribers: within it, the slice of ends cost each delivery 37
    /// instructions.
    @inline(never)
    mutating func withholdNewest(of topic: TopicHandle, from session: UInt32) {
        withhold(
            topic, endedPresences.entries(ofEvent: topics[topic.index].seq), isLate: false,
            from: session)
    }

    /// Withholds an event from a session whose list has still to come to its topic, or which does
    /// not keep up.
    mutating func withhold(
        _ topic: TopicHandle, _ ends: ArraySlice<EndedPresenceLog.Entry>, isLate: Bool,
        from session: UInt32
    ) {
        guard let conflation = conflations[session], conflation.cursor.covers(topic) else { return }
        note(topic, ends, isLate: isLate, missedBy: session)
    }

    /// Notes an event of the account's own for a session that does not keep up; returns whether it
    /// is one.
    mutating func withholdOwn(_ topic: TopicHandle, from session: UInt32) -> Bool {
        guard !conflations.isEmpty, conflations[session] != nil else { return false }
        note(
            topic, endedPresences.entries(ofEvent: topics[topic.index].seq), isLate: false,
            missedBy: session)
        return true
    }

    /// How many topics a connection has missed whose newest states are still to follow.
    public func topicsMissed(by connection: ConnectionID) -> Int {
        guard case .client(let session, _) = caller(of: connection) else { return 0 }
        return conflations[session]?.topics.count ?? 0
    }

    /// The progress of the login list of a session.
    func listCursor(of session: UInt32) -> ListCursor {
        conflations[session]?.cursor ?? links[Int(session)].cursor
    }

    /// Forgets what a session has missed, whose connection has ended.
    mutating func dropConflation(of session: UInt32) {
        conflations[session] = nil
    }

    private mutating func beginConflation(
        of session: UInt32, fromEvent seq: UInt64, at now: Wall
    ) {
        precondition(sessions[session].phase == .connected, "behind and not shown")
        tallies.sessionsConflated += 1
        let delay = noteBehind(session, fromEvent: seq, at: now)
        // The event may be older than states that the session has been sent meanwhile: of its list,
        // to a probe, of what it had missed before.
        var sends: Conflation.Ends = []
        if sessions[session].client == .xmpp { sends.insert(.devices) }
        if links[Int(session)].hears.contains(.approved) { sends.insert(.sights) }
        conflations[session] = Conflation(
            cursor: links[Int(session)].cursor, delay: delay,
            from: max(seq, sessions[session].statesSeq), sends: sends,
            sightsMax: settings.limits.contactsPerAccountMax)
        links[Int(session)].cursor = .start
    }

    private mutating func endConflation(of session: UInt32, at now: Wall) {
        guard let conflation = conflations.removeValue(forKey: session) else { return }
        links[Int(session)].cursor = conflation.cursor
        if let delay = conflation.delay { noteCaughtUp(delay, at: now) }
    }

    /// `ends` is what the event ended.
    private mutating func note(
        _ topic: TopicHandle, _ ends: ArraySlice<EndedPresenceLog.Entry>, isLate: Bool,
        missedBy session: UInt32
    ) {
        let account = AccountHandle(index: sessions[session].account)
        tallies.eventsConflated += 1
        conflations[session]?.note(topic, ends, isLate: isLate)
        guard let conflation = conflations[session],
            conflation.topics.count > topicCountMax(of: account) + conflation.endedCount
        else { return }
        // The account does not subscribe to all of them any more.
        var kept = conflation
        kept.keep { matters($0, to: session, of: account, listed: conflation.cursor) }
        conflations[session] = kept
    }

    private mutating func sendMissed(
        by session: UInt32, of account: AccountHandle, on connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        guard var conflation = conflations.removeValue(forKey: session) else { return }
        let start = effects.events.count
        let inTurn = conflation.topicsInTurn
        var visited = 0
        for topic in inTurn {
            guard effects.events.count - start < settings.limits.statesPerFrameMax else { break }
            visited += 1
            let ended = conflation.takeEnded(
                of: topic, and: endsAhead(of: session, on: topic))
            // The ends in waiting events were sent to it, even if no state follows.
            noteKnown(topic, to: session)
            let matters = matters(topic, to: session, of: account, listed: conflation.cursor)
            let isStated = matters && sessions[session].client != .xmpp
            appendEnds(
                ended, but: isStated ? topic : nil, to: session, at: now, into: &effects)
            guard matters else { continue }
            // An XMPP client was sent the end of its sight of the publisher. Others are sent the
            // state of an unknown account, which they may have been sent before, in an answer.
            let hasLostSight = ended.contains { $0.part == .sight } && !sees(topic, session)
            guard isStated || !hasLostSight else { continue }
            appendState(topic, asSeenBy: session, at: now, into: &effects)
            noteDevices(of: topic, sentTo: session, in: &conflation)
        }
        conflation.remove(inTurn.prefix(visited))
        if conflation.newestSent.count > topicCountMax(of: account) {
            let listed = conflation.cursor
            conflation.keepSent { matters($0, to: session, of: account, listed: listed) }
        }
        conflations[session] = conflation
        let states = start..<effects.events.count
        send(states, .missed, to: session, on: connection, into: &effects)
        guard conflation.topics.isEmpty else { return }
        endConflation(of: session, at: now.wall)
        effects.items.append(.caughtUp(connection))
    }

    /// Notes which devices a session is sent with the state of a topic: while it still misses
    /// events, their ends are noted for it, too.
    private func noteDevices(
        of topic: TopicHandle, sentTo session: UInt32, in conflation: inout Conflation
    ) {
        guard sessions[session].client == .xmpp, topics[topic.index].type == .presence else {
            return
        }
        let devices = shownSessions(of: AccountHandle(index: topics[topic.index].account))
        conflation.noteSent(
            topic, newestDevice: devices.map { sessions[$0].shownSince.ordinal }.max())
    }

    /// How many topics can matter to the sessions of an account: those that it subscribes to, and
    /// its own.
    private func topicCountMax(of account: AccountHandle) -> Int {
        let record = accounts[Int(account.index)]
        let own = Int(record.customTopics.count) + (record.presenceTopic == none ? 0 : 1)
        return index.count(of: account) + own
    }

    /// Whether the state of a topic is to be sent to a session that has missed changes of it. A
    /// number may have been reused for another topic: its state is as correct as any.
    private func matters(
        _ topic: TopicHandle, to session: UInt32, of account: AccountHandle, listed: ListCursor
    ) -> Bool {
        guard Int(topic.index) < topics.upperBound else { return false }
        let leases = index.leases(on: topic, by: account)
        let isHeard = !leases.isDisjoint(with: links[Int(session)].hears)
        return isHeard ? listed.covers(topic) : isOwn(topic, account)
    }

    private func isOwn(_ topic: TopicHandle, _ account: AccountHandle) -> Bool {
        self.topic(topics[topic.index].type, of: account) == topic
    }
}
