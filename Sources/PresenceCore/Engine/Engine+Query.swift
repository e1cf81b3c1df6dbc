// Queries: states, subscriptions, subscribers, sessions, counters. Nothing here changes anything
// but the counter of `seq`, from which the state of an unknown account takes a number.

import Containers

extension Engine {
    /// The states of accounts, in the order of the request.
    mutating func query(
        _ type: EventType, _ names: NameList, _ texts: TextSource, from connection: ConnectionID,
        at now: Moment, into effects: inout Effects
    ) {
        let start = effects.events.count
        for name in texts.names(names) {
            if let account = find(name, texts) {
                appendState(of: account, type, at: now, into: &effects)
            } else {
                appendState(ofUnknown: texts.bytes(name), type, at: now, into: &effects)
            }
        }
        effects.answer(connection, .states(start..<effects.events.count))
    }

    /// A page of the subscriptions of an account, in the order of the topics.
    ///
    /// The cursor is the first topic of the page: a subscription that exists during the whole
    /// listing is listed exactly once, whatever is added or removed meanwhile. O(subscriptions of
    /// the account).
    mutating func listSubscriptions(
        of account: AccountHandle, _ request: ListSubscriptions, _ texts: TextSource,
        from connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) {
        let start = effects.subscriptions.count
        // No subscription is to an account that is not known.
        let publishers = request.publishers.map { names in
            Set(texts.names(names).compactMap { find($0, texts) })
        }
        var room = PageRoom(entriesMax: request.entriesMax, after: effects)
        var cursor: UInt64?
        if index.count(of: account) > 0 {
            let subscriptions = index.subscriptions[Int(account.index)]
            let begin = UInt32(clamping: request.cursor ?? 0)
            for place in index.lowerBound(of: begin, in: subscriptions)..<subscriptions.count {
                effects.visit(1)
                let subscription = subscriptions[place]
                guard subscription.leases.contains(.timed),
                    isWanted(topics[subscription.topic], request.type, publishers)
                else { continue }
                guard room.take(after: effects) else {
                    cursor = UInt64(subscription.topic)
                    break
                }
                effects.subscriptions.append(entry(for: subscription, at: now, into: &effects))
            }
        }
        effects.answer(
            connection,
            .subscriptions(
                entries: start..<effects.subscriptions.count, count: index.timedCount(of: account),
                cursor: cursor))
    }

    private func isWanted(
        _ topic: Topic, _ type: EventType?, _ publishers: Set<AccountHandle>?
    ) -> Bool {
        if let type, topic.type != type { return false }
        guard let publishers else { return true }
        return publishers.contains(AccountHandle(index: topic.account))
    }

    private func entry(
        for subscription: Subscription, at now: Moment, into effects: inout Effects
    ) -> SubscriptionEntry {
        let topic = topics[subscription.topic]
        return SubscriptionEntry(
            type: topic.type, publisher: effects.copyName(of: topic.account, from: self),
            created: subscription.created, expires: now.wall(at: subscription.deadline))
    }

    /// A page of the subscribers of a publisher, in the order of their handles.
    ///
    /// The cursor is the first handle of the page. O(subscribers) per page: a fan is not sorted,
    /// and keeping it sorted would cost every subscription.
    mutating func listSubscribers(
        _ request: ListSubscribers, _ texts: TextSource, from connection: ConnectionID,
        at now: Moment, into effects: inout Effects
    ) {
        let start = effects.subscribers.count
        var cursor: UInt64?
        var count = 0
        if let publisher = find(request.publisher, texts),
            let topic = topic(request.type, of: publisher)
        {
            count = index.subscriberCount(of: topic)
            effects.visit(count)
            let begin = UInt32(clamping: request.cursor ?? 0)
            // One more than the page has, to know whether and where another begins.
            let page =
                count == 0
                ? []
                : smallest(request.entriesMax + 1, of: index.fans[Int(topic.index)], from: begin)
            var room = PageRoom(entriesMax: request.entriesMax, after: effects)
            for subscriber in page {
                guard room.take(after: effects) else {
                    cursor = UInt64(subscriber)
                    break
                }
                appendSubscriber(subscriber, of: topic, at: now, into: &effects)
            }
        }
        effects.answer(
            connection,
            .subscribers(
                entries: start..<effects.subscribers.count, count: count, cursor: cursor))
    }

    private func appendSubscriber(
        _ subscriber: UInt32, of topic: TopicHandle, at now: Moment, into effects: inout Effects
    ) {
        let account = AccountHandle(index: subscriber)
        guard let place = index.position(of: topic, by: account) else {
            preconditionFailure("a subscriber without its subscription")
        }
        let subscription = index.subscriptions[Int(subscriber)][place]
        effects.subscribers.append(
            SubscriberEntry(
                account: effects.copyName(of: subscriber, from: self),
                created: subscription.created,
                expires: subscription.leases.contains(.timed)
                    ? now.wall(at: subscription.deadline) : nil,
                isApproved: subscription.leases.contains(.approved)))
    }

    /// The sessions of an account, in order of login, and how many messages wait for it.
    func listSessions(
        of account: AccountHandle?, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        let start = effects.sessions.count
        for session in account.map({ allSessions(of: $0) }) ?? [] {
            effects.sessions.append(sessionEntry(session, at: now, into: &effects))
        }
        let waiting = account.map { inboxes[$0].messages.count } ?? 0
        effects.answer(
            connection,
            .sessions(
                entries: start..<effects.sessions.count,
                messagesWaiting: settings.messages == .on ? waiting : nil))
    }

    /// What a listing says of a session.
    func sessionEntry(
        _ session: UInt32, at now: Moment, into effects: inout Effects
    ) -> SessionEntry {
        let record = sessions[session]
        let device = deviceEntry(of: session, into: &effects).name
        let connection = connectionID(of: session)
        return SessionEntry(
            session: record.id, device: device, client: record.client, since: record.loggedIn,
            lastHeard: connection == nil ? record.lastHeard : now.wall,
            address: effects.copy(record.address, from: strings),
            connection: record.phase.connectedness, connectionID: connection)
    }

    /// The current counters.
    public var currentStats: Stats {
        var stats = stats
        stats.accounts = names.count
        stats.sessions = sessions.count
        stats.subscriptions = index.timedCount
        stats.statuses = statuses.count
        stats.relationshipsActive = relations.activeCount
        stats.relationshipsPending = relations.pendingCount
        stats.deadlines = wheel.count
        stats.fanOuts = fanOuts.turns.count
        stats.awaitingStore = inFlight.count
        stats.deferred = deferred.count
        stats.subscriptionBytes = index.bytesReserved
        stats.nameBytes =
            names.bytesReserved + (interned.capacity + retired.capacity)
            * MemoryLayout<UInt32>.stride
        stats.statusBytes = statuses.byteCount
        stats.contactBytes = relations.byteCount
        stats.deviceBytes = devices.byteCount
        stats.textBytes = strings.bytesReserved
        return stats
    }
}

extension Session.Phase {
    /// The name of this phase in a listing.
    var connectedness: SessionEntry.Connectedness {
        switch self {
        case .connected, .returning: .connected
        case .hidden: .hidden
        case .inGrace: .inGrace
        case .pushOnly: .pushOnly
        case .awaitingReturn: .awaitingReturn
        }
    }
}

/// The `count` smallest numbers of a fan that are at least `begin`, in order.
///
/// Keeps at most twice as many at a time. O(n + count · log count) for a fan in any order.
private func smallest(_ count: Int, of fan: [Watcher], from begin: UInt32) -> [UInt32] {
    var best: [UInt32] = []
    best.reserveCapacity(count * 2)
    var bound = UInt32.max
    for watcher in fan where watcher.account >= begin && watcher.account < bound {
        best.append(watcher.account)
        guard best.count == count * 2 else { continue }
        best.sort()
        best.removeLast(count)
        bound = best[count - 1]
    }
    best.sort()
    return Array(best.prefix(count))
}
