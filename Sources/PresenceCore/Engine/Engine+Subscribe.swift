// Subscribing and unsubscribing: checked, passed to the store, applied when durable.

import Containers

extension Engine {
    /// Checks a request to subscribe and has it stored. All or nothing.
    mutating func subscribe(
        _ account: AccountHandle, _ request: Subscribe<[AccountHandle]>,
        from connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        try checkVisibility(of: request, to: account, into: &effects)
        try checkQuota(of: account, for: request)
        let reserved = try reserveWatchers(for: account, request, into: &effects)
        propose(
            .subscribe(request),
            .putSubscriptions(
                subscriber: account, request, created: now.wall,
                expires: now.expiry(afterSeconds: request.expirySeconds).wall),
            of: account, for: connection, reserving: reserved, at: now, into: &effects)
    }

    /// Rejects a request for publishers that only approved subscribers see, and names them all.
    @inline(__always)
    private func checkVisibility(
        of request: Subscribe<[AccountHandle]>, to account: AccountHandle,
        into effects: inout Effects
    ) throws(Rejection) {
        let start = effects.names.count
        for publisher in request.publishers
        where publisher != account
            && !visibility(of: publisher.index).leases.contains(.timed)
        {
            effects.names.append(effects.copyName(of: publisher.index, from: self))
        }
        guard start < effects.names.count else { return }
        var rejection = Rejection(.notPermitted, field: .publishers)
        rejection.failed = start..<effects.names.count
        throw rejection
    }

    private func checkQuota(
        of account: AccountHandle, for request: Subscribe<[AccountHandle]>
    ) throws(Rejection) {
        let limit = settings.limits.subscriptionsPerAccountMax
        let count = index.timedCount(of: account)
        guard count + request.publishers.count > limit else { return }
        let added = request.publishers.count { publisher in
            guard let topic = topic(request.type, of: publisher) else { return true }
            return !index.leases(on: topic, by: account).contains(.timed)
        }
        // An account that has more since the limit was lowered may renew all of it.
        guard added > 0, count + added > limit else { return }
        throw Rejection(.subscriptionQuota, limit: limit, count: count)
    }

    /// Rejects a request that would exceed the subscriber quota of a publisher, and names all such
    /// publishers; else keeps their places until the change is applied or has failed.
    private mutating func reserveWatchers(
        for account: AccountHandle, _ request: Subscribe<[AccountHandle]>,
        into effects: inout Effects
    ) throws(Rejection) -> [AccountHandle] {
        guard let limit = settings.subscribersPerPublisherMax else { return [] }
        let joined = request.publishers.filter { publisher in
            topic(request.type, of: publisher)
                .flatMap { index.position(of: $0, by: account) } == nil
        }
        let start = effects.names.count
        for publisher in joined {
            let now = topic(request.type, of: publisher).map { index.subscriberCount(of: $0) } ?? 0
            guard now + joining[key(request.type, publisher), default: 0] >= limit else { continue }
            effects.names.append(effects.copyName(of: publisher.index, from: self))
        }
        let failed = start..<effects.names.count
        guard failed.isEmpty else {
            var rejection = Rejection(.subscriberQuota, field: .publishers, limit: limit)
            rejection.failed = failed
            throw rejection
        }
        for publisher in joined { joining.add(1, to: key(request.type, publisher)) }
        return joined
    }

    /// Keeps the places of subscriptions that have expired while the change that renews them waits:
    /// another account must not take them in between.
    mutating func keepPlaces(
        of account: AccountHandle, _ type: EventType, among publishers: [AccountHandle]
    ) {
        guard settings.subscribersPerPublisherMax != nil else { return }
        for publisher in publishers { joining.add(1, to: key(type, publisher)) }
        inFlight.add(reserved: publishers, of: account)
    }

    /// Applies what has been stored: from now on the subscriptions deliver.
    mutating func applySubscribe(
        _ change: PendingChange, _ request: Subscribe<[AccountHandle]>, at now: Moment,
        into effects: inout Effects
    ) {
        let created = change.requested.wall
        let expiry = change.requested.expiry(afterSeconds: request.expirySeconds)
        let count = index.timedCount(of: change.account)
        effects.visit(index.count(of: change.account))
        addSubscriptions(
            of: change.account, to: request.publishers, request.type, created: created,
            deadline: expiry.mono)
        if index.timedCount(of: change.account) > count {
            noteBeginning(of: change.account, request.type, created: created, at: now.wall)
        }
        var states: Range<Int>?
        if request.answer == .withStates {
            let start = effects.events.count
            for publisher in request.publishers {
                guard case .client(let session, _) = caller(of: change.connection),
                    let topic = topic(request.type, of: publisher)
                else {
                    appendState(of: publisher, request.type, at: now, into: &effects)
                    continue
                }
                appendState(topic, asSeenBy: session, at: now, into: &effects)
                noteKnown(topic, to: session)
            }
            completeList(of: change.connection)
            states = start..<effects.events.count
        }
        effects.answer(
            change.connection,
            .subscribed(
                expires: expiry.wall, count: index.timedCount(of: change.account), states: states))
    }

    /// Adds subscriptions, or gives existing ones the new deadline.
    mutating func addSubscriptions(
        of account: AccountHandle, to publishers: [AccountHandle], _ type: EventType,
        created: Wall, deadline: Mono
    ) {
        topicScratch.removeAll(keepingCapacity: true)
        for publisher in publishers {
            let topic = makeTopic(type, of: publisher)
            if let place = index.position(of: topic, by: account) {
                index.renew(account, at: place, created: created, deadline: deadline)
            } else {
                topicScratch.append(topic)
                noteKnown(topic, toAllOf: account)
            }
        }
        topicScratch.sort()
        index.insert(topicScratch, for: account, created: created, deadline: deadline)
        expectExpiry(of: account, at: deadline)
    }

    /// Ensures that the account's subscriptions are checked no later than `deadline`.
    ///
    /// A renewal postpones the deadline, so it costs nothing here: the entry fires at the old time,
    /// finds nothing to do, and is set to the new one.
    mutating func expectExpiry(of account: AccountHandle, at deadline: Mono) {
        let number = Int(account.index)
        let timer = accounts[number].expiryTimer
        if timer == .none {
            accounts[number].expiryTimer = wheel.schedule(
                Deadline.subscriptions(account.index).payload, at: deadline.milliseconds)
        } else if deadline < accounts[number].expiryDeadline {
            wheel.reschedule(timer, at: deadline.milliseconds)
        } else {
            return
        }
        accounts[number].expiryDeadline = deadline
    }

    /// Has a request to unsubscribe stored, also if there is nothing to remove.
    ///
    /// Expired subscriptions are removed from the store without a response that waits for it. But a
    /// client that has a response that a subscription has ended must not find it again after a
    /// crash with a clock that was set back.
    mutating func unsubscribe(
        _ account: AccountHandle, _ request: Unsubscribe<[AccountHandle]>,
        from connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) {
        propose(
            .unsubscribe(request), .removeSubscriptions(subscriber: account, request), of: account,
            for: connection, at: now, into: &effects)
    }

    /// Applies what has been stored: from now on the subscriptions do not deliver.
    mutating func applyUnsubscribe(
        _ change: PendingChange, _ request: Unsubscribe<[AccountHandle]>, at now: Moment,
        into effects: inout Effects
    ) {
        let unwanted = request.publishers.map { publishers in
            publishers.compactMap { topic(request.type, of: $0) }.sorted()
        }
        var removed: [TopicHandle] = []
        var ended: [Subscription] = []
        effects.visit(index.count(of: change.account))
        _ = index.endTimed(of: change.account, into: &removed) { subscription in
            let isUnwanted =
                unwanted.map { contains(subscription.topic, in: $0) }
                ?? (topics[subscription.topic].type == request.type)
            if isUnwanted { ended.append(subscription) }
            return isUnwanted
        }
        effects.visit(removed.count * Self.visitsOfRemoval)
        forgetExpiryIfNoneIsLeft(of: change.account)
        let isByAppServer = if case .appServer = change.author { true } else { false }
        noteEnds(
            of: ended, of: change.account, isByAppServer ? .endedByAppServer : .endedByAccount,
            at: now.wall)
        announceEnd(
            .unsubscribed, ofSubscriptionsOf: change.account, request.type,
            to: removed.map { AccountHandle(index: topics[$0.index].account) },
            exceptTo: change.connection, into: &effects)
        for topic in removed { releaseIfIdle(topic) }
        effects.answer(
            change.connection,
            .unsubscribed(
                removed: removed.count, count: index.timedCount(of: change.account)))
    }

    /// Notifies the connected sessions of an account that subscriptions have ended, except the one
    /// that is answered.
    mutating func announceEnd(
        _ cause: SubscriptionEnd, ofSubscriptionsOf account: AccountHandle, _ type: EventType,
        to publishers: [AccountHandle], exceptTo answered: ConnectionID? = nil,
        into effects: inout Effects
    ) {
        guard !publishers.isEmpty else { return }
        let receivers = connectedSessions(of: account, except: answered, into: &effects)
        guard !receivers.isEmpty else { return }
        let start = effects.names.count
        for publisher in publishers {
            effects.names.append(effects.copyName(of: publisher.index, from: self))
        }
        effects.items.append(
            .expired(type, cause, names: start..<effects.names.count, receivers: receivers))
    }

    private func connectedSessions(
        of account: AccountHandle, except answered: ConnectionID?, into effects: inout Effects
    ) -> Range<Int> {
        var omitted = none
        if let answered, case .client(let session, _) = caller(of: answered) { omitted = session }
        let start = effects.receivers.count
        for session in shownSessions(of: account) where session != omitted {
            let connection = links[Int(session)].connection
            if connection != none { effects.receivers.append(connection) }
        }
        return start..<effects.receivers.count
    }

    /// What it takes to remove a subscription, with its topic if nothing else needs that.
    private static var visitsOfRemoval: Int { 16 }

    mutating func forgetExpiryIfNoneIsLeft(of account: AccountHandle) {
        let number = Int(account.index)
        guard index.timedCount(of: account) == 0, accounts[number].expiryTimer != .none else {
            return
        }
        wheel.cancel(accounts[number].expiryTimer)
        accounts[number].expiryTimer = .none
    }
}

/// Whether a sorted list has a topic. O(log n).
private func contains(_ topic: UInt32, in sorted: [TopicHandle]) -> Bool {
    let wanted = TopicHandle(index: topic)
    let place = sorted.lowerBound(of: wanted)
    return place < sorted.count && sorted[place] == wanted
}
