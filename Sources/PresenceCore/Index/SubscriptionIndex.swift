// Subscriptions, in both directions.
//
// The subscriptions of an account are an array, sorted by topic: searched by binary search, merged
// with the hundred publishers of a request in one pass, listed in pages by topic. The subscribers
// of a topic are its fan: a plain array of account handles, which is all that a fan-out reads. A
// subscription knows its position in the fan, so that removal from a fan of a million costs a swap
// with its last member, whose own subscription is then corrected.
//
// There is no wheel entry per subscription: an account has one, for the earliest of its deadlines,
// and a renewal does not touch it (see `Engine.expectExpiry`). In total 24 bytes per subscription,
// plus the slack of the arrays: they grow by an eighth, not by half.
//
// The index knows numbers only. The engine owns accounts and topics, and removes topics without
// subscribers.

import Containers

/// The subscriptions of all accounts.
struct SubscriptionIndex {
    /// By account: its subscriptions in the order of their topics.
    var subscriptions: [[Subscription]] = []
    /// By topic: the accounts that subscribe to it, in no particular order.
    var fans: [[UInt32]] = []
    /// The number of subscriptions.
    private(set) var count = 0
    /// Of the topics that are being walked: how many of the fan's first members are still to come.
    private var walks: [UInt32: Int] = [:]
    /// The number of lists and fans that are not empty.
    private var arraysInUse = 0
    /// The number of subscriptions that the arrays have room for.
    private var subscriptionCapacity = 0
    /// The number of subscribers that the fans have room for.
    private var fanCapacity = 0

    /// The number of subscriptions of `account`.
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

    /// Gives an existing subscription a new deadline.
    mutating func renew(_ account: AccountHandle, at place: Int, deadline: Mono) {
        subscriptions[Int(account.index)][place].deadline = deadline
    }

    /// Adds subscriptions to `topics`, none of which `account` has, in one merge.
    ///
    /// `topics` must be sorted and without duplicates. O(subscriptions of the account + topics).
    mutating func insert(
        _ topics: [TopicHandle], for account: AccountHandle, created: Wall, deadline: Mono
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
                Subscription(topic: topic.index, position: 0, created: created, deadline: deadline))
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
                topic: topic.index, position: join(topic, account), created: created,
                deadline: deadline)
            target -= 1
        }
        swap(&list, &subscriptions[index])
        count += topics.count
    }

    /// Appends `account` to the fan of `topic`.
    private mutating func join(_ topic: TopicHandle, _ account: AccountHandle) -> UInt32 {
        let index = Int(topic.index)
        while fans.count <= index {
            growByAnEighth(&fans)
            fans.append([])
        }
        let place = fans[index].count
        if place == 0 { arraysInUse += 1 }
        if place == fans[index].capacity {
            let before = fans[index].capacity
            fans[index].reserveCapacity(place + Swift.max(2, place / 8))
            fanCapacity += fans[index].capacity - before
        }
        fans[index].append(account.index)
        return UInt32(place)
    }

    private mutating func makeRoom(forAccount index: Int) {
        while subscriptions.count <= index {
            growByAnEighth(&subscriptions)
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
    /// Removes the subscriptions of `account` that `isGone` selects, in one pass.
    ///
    /// Their topics are appended to `removed`, in order. Returns the earliest deadline among the
    /// rest. O(subscriptions of the account).
    mutating func remove(
        from account: AccountHandle, into removed: inout [TopicHandle],
        where isGone: (Subscription) -> Bool
    ) -> Mono? {
        let index = Int(account.index)
        guard index < subscriptions.count, !subscriptions[index].isEmpty else { return nil }
        var list: [Subscription] = []
        swap(&list, &subscriptions[index])
        var kept = 0
        var earliest: Mono?
        for place in list.indices {
            let subscription = list[place]
            if isGone(subscription) {
                leave(subscription)
                removed.append(TopicHandle(index: subscription.topic))
            } else {
                list[kept] = subscription
                kept += 1
                earliest = min(earliest ?? subscription.deadline, subscription.deadline)
            }
        }
        count -= list.count - kept
        list.removeLast(list.count - kept)
        trim(&list)
        swap(&list, &subscriptions[index])
        return earliest
    }

    /// Removes the subscriber of `subscription` from the fan: the last one moves to its position.
    private mutating func leave(_ subscription: Subscription) {
        let topic = Int(subscription.topic)
        let place = hole(left: subscription)
        let last = fans[topic].removeLast()
        if place < fans[topic].count {
            fans[topic][place] = last
            correct(position: UInt32(place), of: subscription.topic, by: last)
        }
        let capacity = fans[topic].capacity
        if fans[topic].isEmpty {
            arraysInUse -= 1
            fans[topic] = []
        } else if capacity > 16, capacity > fans[topic].count * 2 {
            fans[topic] = Array(fans[topic])
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
            list = Array(list)
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
            correct(position: subscription.position, of: subscription.topic, by: mover)
        }
        return next
    }
}

// MARK: - Accounting

extension SubscriptionIndex {
    /// The memory of the index, in bytes, including all overhead.
    var bytesReserved: Int {
        let headers = 32 + 16  // An array's own header, and malloc's.
        let slots = (subscriptions.capacity + fans.capacity) * MemoryLayout<[Subscription]>.stride
        let lists = arraysInUse * headers
        return slots + lists + subscriptionCapacity * MemoryLayout<Subscription>.stride
            + fanCapacity * 4
    }

    /// Traps unless both directions agree. O(all subscriptions); for tests.
    func checkInvariants() {
        var total = 0
        for (account, list) in subscriptions.enumerated() {
            for (place, subscription) in list.enumerated() {
                precondition(
                    place == 0 || list[place - 1].topic < subscription.topic, "out of order")
                let fan = fans[Int(subscription.topic)]
                precondition(Int(subscription.position) < fan.count, "beyond the fan")
                precondition(
                    fan[Int(subscription.position)] == account, "a place of another account")
            }
            total += list.count
        }
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

/// Reserves room for one more element, an eighth at a time once the array is large.
///
/// Doubling would leave a third of a large array unused on average.
func growByAnEighth<Element>(_ array: inout [Element]) {
    guard array.count == array.capacity, array.count >= 1_024 else { return }
    array.reserveCapacity(array.count + array.count / 8)
}
