// Subscriptions, in both directions.
//
// The subscriptions of an account are an array, sorted by topic: searched by binary search, merged
// with the hundred publishers of a request in one pass, listed in pages by topic. The subscribers
// of a topic are its fan: a plain array of account handles and leases, which is all that a fan-out
// reads. A subscription knows its position in the fan, so that removal from a fan of a million
// costs a swap with its last member, whose own subscription is then corrected.
//
// There is no wheel entry per subscription: an account has one, for the earliest of its deadlines,
// and a renewal does not touch it (see `Engine.expectExpiry`). In total 24 bytes per subscription,
// plus the slack of the arrays: they grow by an eighth, not by half.
//
// A subscription lives as long as it has a lease, see `Leases`. What a client lists, renews and is
// counted for is its timed leases; an account whose subscriptions are all timed has no entry in
// `approvedOnly`.
//
// The index knows numbers only. The engine owns accounts and topics, and removes topics without
// subscribers.

import Containers

/// The subscriptions of all accounts.
struct SubscriptionIndex {
    /// By account: its subscriptions in the order of their topics.
    var subscriptions = ChunkedArray<[Subscription]>()
    /// By topic: the accounts that subscribe to it, in no particular order.
    var fans = ChunkedArray<[Watcher]>()
    /// The number of subscriptions.
    private(set) var count = 0
    /// By account: how many of its subscriptions have no timed lease; no entry for none.
    private var approvedOnly = PartedDictionary<UInt32, Int>()
    /// How many subscriptions have no timed lease.
    private var approvedOnlyCount = 0
    /// Of the topics that are being walked: how many of the fan's first members are still to come.
    private var walks: [UInt32: Int] = [:]
    /// The number of lists and fans that are not empty.
    private var arraysInUse = 0
    /// The number of subscriptions that the arrays have room for.
    private var subscriptionCapacity = 0
    /// The number of subscribers that the fans have room for.
    private var fanCapacity = 0

    /// The number of subscriptions with a timed lease.
    var timedCount: Int { count - approvedOnlyCount }

    /// The number of subscriptions of `account` with a timed lease.
    func timedCount(of account: AccountHandle) -> Int {
        let count = count(of: account)
        guard approvedOnlyCount > 0 else { return count }
        return count - approvedOnly[account.index, default: 0]
    }

    /// The leases by which `account` subscribes to `topic`; empty if it does not. O(log n).
    func leases(on topic: TopicHandle, by account: AccountHandle) -> Leases {
        guard let place = position(of: topic, by: account) else { return [] }
        return subscriptions[Int(account.index)][place].leases
    }

    /// The number of subscriptions of `account`, whatever their leases.
    func count(of account: AccountHandle) -> Int {
        let index = Int(account.index)
        return index < subscriptions.count ? subscriptions[index].count : 0
    }

    /// The number of accounts that subscribe to `topic`.
    func subscriberCount(of topic: TopicHandle) -> Int {
        let index = Int(topic.index)
        return index < fans.count ? fans[index].count : 0
    }

    /// The position of the subscription of `account` to `topic`. O(log n).
    func position(of topic: TopicHandle, by account: AccountHandle) -> Int? {
        let index = Int(account.index)
        guard index < subscriptions.count else { return nil }
        let place = lowerBound(of: topic.index, in: subscriptions[index])
        guard place < subscriptions[index].count, subscriptions[index][place].topic == topic.index
        else {
            return nil
        }
        return place
    }

    /// The position of the first subscription whose topic is not before `topic`.
    func lowerBound(of topic: UInt32, in list: [Subscription]) -> Int {
        list.partitionPoint { $0.topic < topic }
    }

    /// Gives an existing subscription a timed lease with this deadline; `created` is noted if it
    /// had none.
    mutating func renew(
        _ account: AccountHandle, at place: Int, created: Wall, deadline: Mono
    ) {
        let owner = Int(account.index)
        subscriptions[owner][place].deadline = deadline
        guard !subscriptions[owner][place].leases.contains(.timed) else { return }
        subscriptions[owner][place].created = created
        setLeases(.all, of: account, at: place)
        countApprovedOnly(account, -1)
    }

    /// Gives `account` an approved lease on `topic`. O(subscriptions of the account).
    mutating func approve(_ topic: TopicHandle, for account: AccountHandle, created: Wall) {
        if let place = position(of: topic, by: account) {
            let leases = subscriptions[Int(account.index)][place].leases.union(.approved)
            return setLeases(leases, of: account, at: place)
        }
        insert(
            [topic], for: account, lease: .approved, created: created,
            deadline: Subscription.never)
        countApprovedOnly(account, 1)
    }

    private mutating func setLeases(_ leases: Leases, of account: AccountHandle, at place: Int) {
        subscriptions[Int(account.index)][place].leases = leases
        let subscription = subscriptions[Int(account.index)][place]
        fans[Int(subscription.topic)][Int(subscription.position)].leases = leases
    }

    private mutating func countApprovedOnly(_ account: AccountHandle, _ change: Int) {
        approvedOnlyCount += change
        approvedOnly.add(change, to: account.index)
    }

    /// Adds timed subscriptions to `topics`, none of which `account` has, in one merge.
    ///
    /// `topics` must be sorted and without duplicates. O(subscriptions of the account + topics).
    mutating func insert(
        _ topics: [TopicHandle], for account: AccountHandle, created: Wall, deadline: Mono
    ) {
        insert(topics, for: account, lease: .timed, created: created, deadline: deadline)
    }

    private mutating func insert(
        _ topics: [TopicHandle], for account: AccountHandle, lease: Leases, created: Wall,
        deadline: Mono
    ) {
        guard !topics.isEmpty else { return }
        let index = Int(account.index)
        makeRoom(forAccount: index)
        var list: [Subscription] = []
        swap(&list, &subscriptions[index])
        let before = list.count
        if before == 0 { arraysInUse += 1 }
        reserve(&list, adding: topics.count)
        for topic in topics {
            list.append(
                Subscription(
                    topic: topic.index, position: 0, lease: lease, created: created,
                    deadline: deadline))
        }
        var source = before - 1
        var target = list.count - 1
        for topic in topics.reversed() {
            while source >= 0, list[source].topic > topic.index {
                list[target] = list[source]
                source -= 1
                target -= 1
            }
            precondition(source < 0 || list[source].topic != topic.index, "subscribed twice")
            list[target] = Subscription(
                topic: topic.index, position: join(topic, account, lease), lease: lease,
                created: created, deadline: deadline)
            target -= 1
        }
        swap(&list, &subscriptions[index])
        count += topics.count
    }

    /// Appends `account` to the fan of `topic`.
    private mutating func join(
        _ topic: TopicHandle, _ account: AccountHandle, _ lease: Leases
    ) -> UInt32 {
        let index = Int(topic.index)
        while fans.count <= index {
            fans.append([])
        }
        let place = fans[index].count
        if place == 0 { arraysInUse += 1 }
        if place == fans[index].capacity {
            let before = fans[index].capacity
            fans[index].reserveCapacity(place + Swift.max(2, place / 8))
            fanCapacity += fans[index].capacity - before
        }
        fans[index].append(Watcher(account: account.index, leases: lease))
        return UInt32(place)
    }

    private mutating func makeRoom(forAccount index: Int) {
        while subscriptions.count <= index {
            subscriptions.append([])
        }
    }

    private mutating func reserve(_ list: inout [Subscription], adding added: Int) {
        let needed = list.count + added
        guard needed > list.capacity else { return }
        let before = list.capacity
        // The first request is likely to be the whole list; later ones have few each.
        list.reserveCapacity(before == 0 ? needed : needed + needed / 8)
        subscriptionCapacity += list.capacity - before
    }
}

// MARK: - Removal

extension SubscriptionIndex {
    /// Ends the timed leases of `account` that `isGone` selects, in one pass.
    ///
    /// Their topics are appended to `ended`, in order. A subscription that is approved besides
    /// remains. Returns the earliest deadline among the rest. O(subscriptions of the account).
    mutating func endTimed(
        of account: AccountHandle, into ended: inout [TopicHandle],
        where isGone: (Subscription) -> Bool
    ) -> Mono? {
        var approvedLeft = 0
        var earliest: Mono?
        remove(from: account) { subscription, fans in
            guard subscription.leases.contains(.timed) else { return false }
            guard isGone(subscription) else {
                earliest = min(earliest ?? subscription.deadline, subscription.deadline)
                return false
            }
            ended.append(TopicHandle(index: subscription.topic))
            guard subscription.leases.contains(.approved) else { return true }
            subscription.leases = .approved
            subscription.deadline = Subscription.never
            fans[Int(subscription.topic)][Int(subscription.position)].leases = .approved
            approvedLeft += 1
            return false
        }
        if approvedLeft > 0 { countApprovedOnly(account, approvedLeft) }
        return earliest
    }

    /// Ends the approved lease of `account` on `topic`, if it has one. A subscription that is timed
    /// besides remains. O(subscriptions of the account).
    mutating func endApproved(_ topic: TopicHandle, of account: AccountHandle) {
        let leases = leases(on: topic, by: account)
        guard leases.contains(.approved), let place = position(of: topic, by: account) else {
            return
        }
        guard leases == .approved else { return setLeases(.timed, of: account, at: place) }
        countApprovedOnly(account, -1)
        remove(from: account) { subscription, _ in subscription.topic == topic.index }
    }

    /// Removes the subscriptions of `account` that `isGone` selects; it may change the others.
    private mutating func remove(
        from account: AccountHandle,
        where isGone: (inout Subscription, inout ChunkedArray<[Watcher]>) -> Bool
    ) {
        let index = Int(account.index)
        guard index < subscriptions.count, !subscriptions[index].isEmpty else { return }
        var list: [Subscription] = []
        swap(&list, &subscriptions[index])
        var kept = 0
        for place in list.indices {
            var subscription = list[place]
            if isGone(&subscription, &fans) {
                leave(subscription)
            } else {
                list[kept] = subscription
                kept += 1
            }
        }
        count -= list.count - kept
        list.removeLast(list.count - kept)
        trim(&list)
        swap(&list, &subscriptions[index])
    }

    /// Removes the subscriber of `subscription` from the fan: the last one moves to its position.
    private mutating func leave(_ subscription: Subscription) {
        let topic = Int(subscription.topic)
        let place = hole(left: subscription)
        let last = fans[topic].removeLast()
        if place < fans[topic].count {
            fans[topic][place] = last
            correct(position: UInt32(place), of: subscription.topic, by: last.account)
        }
        let capacity = fans[topic].capacity
        if fans[topic].isEmpty {
            arraysInUse -= 1
            fans[topic] = []
        } else if capacity > 16, capacity > fans[topic].count * 2 {
            fans[topic] = fans[topic].fitted()
        }
        fanCapacity -= capacity - fans[topic].capacity
    }

    private mutating func correct(position: UInt32, of topic: UInt32, by account: UInt32) {
        let place = lowerBound(of: topic, in: subscriptions[Int(account)])
        precondition(
            subscriptions[Int(account)][place].topic == topic,
            "a subscriber without its subscription")
        subscriptions[Int(account)][place].position = position
    }

    private mutating func trim(_ list: inout [Subscription]) {
        let capacity = list.capacity
        if list.isEmpty {
            arraysInUse -= 1
            list = []
        } else if capacity > 16, capacity > list.count * 2 {
            list = list.fitted()
        }
        subscriptionCapacity -= capacity - list.capacity
    }
}

// MARK: - Walks

extension SubscriptionIndex {
    // A walk goes from the end of a fan to its beginning. A new subscriber is appended after the
    // part that was walked. When a subscriber in the part not yet walked leaves, the next to be
    // visited takes its position, and the last of the fan takes that one's: none is visited twice
    // or skipped.

    /// Starts a walk through the current fan of `topic`.
    mutating func beginWalk(of topic: TopicHandle) {
        precondition(walks[topic.index] == nil, "one walk of a topic at a time")
        walks[topic.index] = subscriberCount(of: topic)
    }

    /// The positions of the next `subscribersMax` members; the walk visits the last of them first.
    mutating func nextOfWalk(of topic: TopicHandle, subscribersMax: Int) -> Range<Int> {
        guard let left = walks[topic.index] else { preconditionFailure("no walk") }
        let next = max(0, left - subscribersMax)
        walks[topic.index] = next
        return next..<left
    }

    /// Whether all members have been visited.
    func isWalkOver(of topic: TopicHandle) -> Bool {
        walks[topic.index] == 0
    }

    /// Whether a walk has still to come to a subscriber.
    func isAheadOfWalk(_ topic: TopicHandle, _ account: AccountHandle) -> Bool {
        guard let left = walks[topic.index], let place = position(of: topic, by: account) else {
            return false
        }
        return Int(subscriptions[Int(account.index)][place].position) < left
    }

    /// Ends a walk.
    mutating func endWalk(of topic: TopicHandle) {
        walks[topic.index] = nil
    }

    /// The position for the last member of the fan that `subscription` is about to leave.
    private mutating func hole(left subscription: Subscription) -> Int {
        let place = Int(subscription.position)
        guard !walks.isEmpty, let left = walks[subscription.topic], place < left else {
            return place
        }
        let next = left - 1
        walks[subscription.topic] = next
        if place != next {
            let mover = fans[Int(subscription.topic)][next]
            fans[Int(subscription.topic)][place] = mover
            correct(position: subscription.position, of: subscription.topic, by: mover.account)
        }
        return next
    }
}

// MARK: - Accounting

extension SubscriptionIndex {
    /// The memory of the index, in bytes, including all overhead.
    var bytesReserved: Int {
        let headers = 32 + 16  // An array's own header, and malloc's.
        let slots = subscriptions.bytesReserved + fans.bytesReserved
        let lists = arraysInUse * headers
        return slots + lists + subscriptionCapacity * MemoryLayout<Subscription>.stride
            + fanCapacity * 4
    }

    /// Traps unless both directions agree. O(all subscriptions); for tests.
    func checkInvariants() {
        var total = 0
        var approvedInAll = 0
        for (account, list) in subscriptions.enumerated() {
            for (place, subscription) in list.enumerated() {
                precondition(
                    place == 0 || list[place - 1].topic < subscription.topic, "out of order")
                let fan = fans[Int(subscription.topic)]
                precondition(Int(subscription.position) < fan.count, "beyond the fan")
                let watcher = fan[Int(subscription.position)]
                precondition(watcher.account == account, "a place of another account")
                precondition(
                    !subscription.leases.isEmpty && watcher.leases == subscription.leases,
                    "leases")
                precondition(
                    subscription.leases.contains(.timed)
                        || subscription.deadline == Subscription.never, "an end without a lease")
            }
            total += list.count
            let untimed = list.count { !$0.leases.contains(.timed) }
            precondition(approvedOnly[UInt32(account), default: 0] == untimed, "approved only")
            approvedInAll += untimed
        }
        precondition(approvedInAll == approvedOnlyCount, "miscounted approved subscriptions")
        precondition(total == count, "miscounted subscriptions")
        let used = subscriptions.count { !$0.isEmpty } + fans.count { !$0.isEmpty }
        precondition(used == arraysInUse, "miscounted arrays")
        precondition(fans.reduce(0) { $0 + $1.count } == count, "miscounted fans")
        precondition(
            subscriptions.reduce(0) { $0 + $1.capacity } == subscriptionCapacity,
            "subscription capacity")
        precondition(fans.reduce(0) { $0 + $1.capacity } == fanCapacity, "fan capacity")
    }
}
