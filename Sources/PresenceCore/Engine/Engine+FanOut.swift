import Containers

// The receivers of an event: all at once if the fan is small, in slices if it is not.

extension Engine {
    /// Whether large fan-outs are in progress.
    public var hasFanOuts: Bool { !fanOuts.isEmpty }

    /// Which of the publisher's own sessions receive the event, besides the subscribers.
    enum OwnReceivers {
        case nobody
        /// All but the one on this connection.
        case allBut(ConnectionID?)
        /// Those of XMPP clients, but not the one on this connection (RFC 6121, section 4.2.2).
        case resources(but: ConnectionID?)
    }

    private enum OwnSessionKind { case all, resources }

    /// How many connections an event was handed to at once, and whether more will follow.
    struct FannedOut {
        var receivers: Int
        var walk: EventNote.Walk
    }

    /// Has `effects.events.last` sent to all subscribers of its topic.
    mutating func fanOut(
        _ topic: TopicHandle, to viewers: Viewers, alsoTo own: OwnReceivers,
        into effects: inout Effects
    ) -> FannedOut {
        let event = effects.events.count - 1
        let start = effects.receivers.count
        let isLarge =
            index.subscriberCount(of: topic) > settings.subscribersPerSlice
            || fanOuts.isWalking(topic)
        if isLarge {
            enqueue(event, of: topic, to: viewers, into: &effects)
        } else if index.subscriberCount(of: topic) > 0 {
            collectSubscribers(of: topic, viewers, into: &effects)
        }
        switch own {
        case .nobody: break
        case .allBut(let origin):
            collectOwnSessions(of: topic, .all, but: origin, into: &effects)
        case .resources(let origin)
        where resourceCount > 0 && topics[topic.index].type == .presence:
            collectOwnSessions(of: topic, .resources, but: origin, into: &effects)
        case .resources: break
        }
        let receivers = start..<effects.receivers.count
        let fanned = FannedOut(receivers: receivers.count, walk: isLarge ? .inSlices : .atOnce)
        guard !receivers.isEmpty else { return fanned }
        stats.deliveries += receivers.count
        effects.items.append(.deliver(event: event, topic: topic, receivers: receivers))
        return fanned
    }

    /// Whether an event of `topic` would have a receiver.
    func hasReceivers(
        _ topic: TopicHandle, _ viewers: Viewers, _ own: OwnReceivers
    ) -> Bool {
        let publisher = AccountHandle(index: topics[topic.index].account)
        if index.subscriberCount(of: topic) > 0,
            !viewers.leases.isEmpty || !index.leases(on: topic, by: publisher).isEmpty
        {
            return true
        }
        switch own {
        case .nobody: return false
        case .resources where resourceCount == 0 || topics[topic.index].type != .presence:
            return false
        case .resources, .allBut: break
        }
        return firstSession[Int(publisher.index)] != none
    }

    private mutating func collectSubscribers(
        of topic: TopicHandle, _ viewers: Viewers, into effects: inout Effects
    ) {
        let publisher = topics[topic.index].account
        guard viewers.includesPublisher else {
            for watcher in index.fans[Int(topic.index)] where watcher.account != publisher {
                collectSessions(of: watcher, viewers, for: topic, into: &effects)
            }
            return
        }
        if !viewers.leases.isEmpty {
            for watcher in index.fans[Int(topic.index)] {
                collectSessions(of: watcher, viewers, for: topic, into: &effects)
            }
        }
        // By the only lease that it can have on itself.
        guard !viewers.leases.contains(.timed) else { return }
        let leases = index.leases(on: topic, by: AccountHandle(index: publisher))
        let own = Watcher(account: publisher, leases: leases)
        collectSessions(of: own, .all, for: topic, into: &effects)
    }

    mutating func collectSessions(
        of watcher: Watcher, _ viewers: Viewers, for topic: TopicHandle,
        into effects: inout Effects
    ) {
        var session = firstSession[Int(watcher.account)]
        while session != none {
            let link = links[Int(session)]
            if link.connection != none, viewers.include(watcher.leases.intersection(link.hears)) {
                if link.cursor.covers(topic) {
                    effects.receivers.append(link.connection)
                } else if !conflations.isEmpty {
                    withholdNewest(of: topic, from: session)
                }
            }
            session = link.next
        }
    }

    /// The publisher's own sessions; those that subscribe to themselves receive it as subscribers.
    private mutating func collectOwnSessions(
        of topic: TopicHandle, _ which: OwnSessionKind, but origin: ConnectionID?,
        into effects: inout Effects
    ) {
        let account = AccountHandle(index: topics[topic.index].account)
        // The slot may have been reused, if the change has waited for the store.
        let excluded = origin.map { isLoggedIn($0) ? $0.slot : none } ?? none
        var session = firstSession[Int(account.index)]
        while session != none {
            let link = links[Int(session)]
            if link.connection != none, link.connection != excluded,
                which == .all || sessions[session].client == .xmpp,
                sessions[session].phase == .connected,
                // Most accounts have no other session, and then need not be searched for.
                index.leases(on: topic, by: account).isDisjoint(with: link.hears),
                !withholdOwn(topic, from: session)
            {
                effects.receivers.append(link.connection)
            }
            session = link.next
        }
    }
}

// MARK: - Large fan-outs

extension Engine {
    private mutating func enqueue(
        _ event: Int, of topic: TopicHandle, to viewers: Viewers, into effects: inout Effects
    ) {
        let seq = effects.events[event].seq
        effects.items.append(.keep(FanOutID(seq: seq), event: event))
        let added = fanOuts.add(
            FanOuts.Waiting(
                seq: seq, viewers: viewers, isOfHiding: effects.events[event].cause == .hidden,
                ends: ArraySlice(Array(endedPresences.entries(ofEvent: seq)))),
            of: topic)
        if let dropped = added.dropped {
            stats.eventsConflated += 1
            history.noteGaveWay(event: dropped)
            effects.items.append(.drop(FanOutID(seq: dropped)))
        }
        if added.isFirst { index.beginWalk(of: topic) }
    }

    /// Continues large fan-outs: visits at most `subscribersMax` subscribers, and stops when
    /// `receiversMax` connections have been found for this turn.
    public mutating func continueFanOuts(
        subscribersMax: Int, receiversMax: Int, into effects: inout Effects
    ) {
        forgetRetired(after: effects)
        var subscribersLeft = subscribersMax
        let receiversEnd = effects.receivers.count + receiversMax
        while !fanOuts.isEmpty, subscribersLeft > 0, effects.receivers.count < receiversEnd {
            let receiversLeft = receiversEnd - effects.receivers.count
            let share = min(subscribersLeft, settings.subscribersPerSlice, max(1, receiversLeft))
            subscribersLeft -= walkSlice(share, into: &effects)
        }
    }

    /// Walks a slice for the topic whose turn it is; returns the number of subscribers visited.
    private mutating func walkSlice(_ subscribersMax: Int, into effects: inout Effects) -> Int {
        let topic = TopicHandle(index: fanOuts.turns[0])
        guard let waiting = fanOuts.walks[topic.index]?.events.first else {
            preconditionFailure("a topic's turn without an event")
        }
        let seq = waiting.seq
        let viewers = viewers(of: waiting, on: topic)
        let start = effects.receivers.count
        let publisher = topics[topic.index].account
        let slice = index.nextOfWalk(of: topic, subscribersMax: subscribersMax)
        for place in slice.reversed() {
            let watcher = index.fans[Int(topic.index)][place]
            if watcher.account != publisher {
                collectLate(watcher, viewers, waiting, of: topic, into: &effects)
            } else if viewers.includesPublisher {
                collectLate(watcher, .all, waiting, of: topic, into: &effects)
            }
        }
        deliverKept(seq, of: topic, to: start..<effects.receivers.count, into: &effects)
        if index.isWalkOver(of: topic) {
            effects.items.append(.drop(FanOutID(seq: seq)))
            index.endWalk(of: topic)
            if fanOuts.endWalk() {
                index.beginWalk(of: topic)
                fanOuts.rotate()
            } else {
                releaseIfIdle(topic)
            }
        } else {
            fanOuts.rotate()
        }
        // An empty slice has a cost, too.
        return max(1, slice.count)
    }

    /// The subscribers that are sent an event of a large fan-out by now: what was visible when it
    /// happened may be hidden; the event that hides it is still sent.
    private func viewers(of waiting: FanOuts.Waiting, on topic: TopicHandle) -> Viewers {
        waiting.isOfHiding
            ? waiting.viewers : waiting.viewers.limited(to: viewers(of: topic).leases)
    }

    private mutating func deliverKept(
        _ seq: UInt64, of topic: TopicHandle, to receivers: Range<Int>, into effects: inout Effects
    ) {
        guard !receivers.isEmpty else { return }
        stats.deliveries += receivers.count
        history.noteReceivers(receivers.count, ofEvent: seq)
        effects.items.append(
            .deliverKept(FanOutID(seq: seq), topic: topic, receivers: receivers))
    }

    /// The ends that a session has still to be sent by large fan-outs of a topic. A session that is
    /// about to be sent the topic's state is sent them before: it is not sent these events any
    /// more, and the state does not contain the ends.
    func endsAhead(of session: UInt32, on topic: TopicHandle) -> [EndedPresenceLog.Entry] {
        guard fanOuts.isWalking(topic), let walk = fanOuts.walks[topic.index] else { return [] }
        let account = AccountHandle(index: sessions[session].account)
        let shared = index.leases(on: topic, by: account)
            .intersection(links[Int(session)].hears)
        var ends: [EndedPresenceLog.Entry] = []
        for (place, waiting) in walk.events.enumerated()
        where place > 0 || index.isAheadOfWalk(topic, account) {
            guard !waiting.ends.isEmpty, viewers(of: waiting, on: topic).include(shared),
                isNews(waiting, of: topic, to: session)
            else { continue }
            ends += waiting.ends
        }
        return ends
    }

    /// The devices that waiting events end, for subscribers that are about to lose the sight of the
    /// publisher: they are not sent these events any more. Subscribers that the walk has passed are
    /// sent the ends again, which changes nothing for them.
    func endsWaiting(of topic: TopicHandle, for viewers: Viewers) -> [EndedPresenceLog.Entry] {
        guard fanOuts.isWalking(topic), let walk = fanOuts.walks[topic.index] else { return [] }
        let publisher = AccountHandle(index: topics[topic.index].account)
        var ended: Set<[UInt8]> = []
        var ends: [EndedPresenceLog.Entry] = []
        for waiting in walk.events where !waiting.viewers.leases.isDisjoint(with: viewers.leases) {
            for entry in waiting.ends {
                guard case .device(let device, _, _, _) = entry.part,
                    !isShown(device, of: publisher), ended.insert(device).inserted
                else { continue }
                ends.append(entry)
            }
        }
        return ends
    }

    /// Whether a session may be sent an event that waits.
    @inline(__always)
    private func isNews(
        _ waiting: FanOuts.Waiting, of topic: TopicHandle, to session: UInt32
    ) -> Bool {
        sessions[session].id.ordinal < waiting.seq
            && fanOuts.isNews(waiting.seq, of: topic.index, to: session)
    }

    /// Sends a subscriber that is about to lose its approval what large fan-outs still have for it.
    /// They would not find it any more, and it would never be sent the end of a device, or that the
    /// publisher has hidden itself.
    mutating func finishFanOuts(
        of publisher: AccountHandle, for account: AccountHandle, into effects: inout Effects
    ) {
        guard let topic = topic(.presence, of: publisher), fanOuts.isWalking(topic),
            let walk = fanOuts.walks[topic.index]
        else { return }
        let watcher = Watcher(
            account: account.index, leases: index.leases(on: topic, by: account))
        for (place, waiting) in walk.events.enumerated() {
            // The first may have been sent to it already.
            guard place > 0 || index.isAheadOfWalk(topic, account) else { continue }
            let start = effects.receivers.count
            collectLate(
                watcher, viewers(of: waiting, on: topic), waiting, of: topic, into: &effects)
            let receivers = start..<effects.receivers.count
            deliverKept(waiting.seq, of: topic, to: receivers, into: &effects)
        }
        // It may have another lease, by which the walk comes to it.
        noteKnown(topic, toAllOf: account)
    }

    /// As `collectSessions`, for an event that may be older than what some sessions know.
    private mutating func collectLate(
        _ watcher: Watcher, _ viewers: Viewers, _ waiting: FanOuts.Waiting, of topic: TopicHandle,
        into effects: inout Effects
    ) {
        var session = firstSession[Int(watcher.account)]
        while session != none {
            let link = links[Int(session)]
            if link.connection != none, viewers.include(watcher.leases.intersection(link.hears)),
                isNews(waiting, of: topic, to: session)
            {
                if link.cursor.covers(topic) {
                    effects.receivers.append(link.connection)
                } else if !conflations.isEmpty {
                    withhold(topic, waiting.ends, isLate: true, from: session)
                }
            }
            session = link.next
        }
    }

    /// Notes that a session is being sent the current state of a topic.
    mutating func noteKnown(_ topic: TopicHandle, to session: UInt32) {
        guard !fanOuts.isEmpty else { return }
        fanOuts.note(session, knows: topic, upTo: topics[topic.index].seq)
    }

    /// Notes that all sessions of an account subscribe to a topic with its current state.
    mutating func noteKnown(_ topic: TopicHandle, toAllOf account: AccountHandle) {
        guard !fanOuts.isEmpty else { return }
        for session in shownSessions(of: account) { noteKnown(topic, to: session) }
    }
}
