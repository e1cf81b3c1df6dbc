import Containers
import Testing

@testable import PresenceCore

@Suite struct `The subscription index` {
    func account(_ number: Int) -> AccountHandle { AccountHandle(index: UInt32(number)) }
    func topics(_ numbers: some Sequence<Int>) -> [TopicHandle] {
        numbers.map { TopicHandle(index: UInt32($0)) }
    }

    @Test(arguments: 1...20)
    func `agrees with sets on random changes`(seed: Int) {
        print("index seed \(seed)")
        var random = SplitMix64(seed: UInt64(seed))
        var index = SubscriptionIndex()
        var model: [Int: [Int: Leased]] = [:]
        for step in 0..<600 {
            let who = Int.random(in: 0..<12, using: &random)
            let some = Set(
                (0..<Int.random(in: 1...20, using: &random)).map { _ in
                    Int.random(in: 0..<40, using: &random)
                })
            let deadline = UInt64.random(in: 1...1_000, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0..<3: subscribe(who, some, deadline, &index, &model)
            case 3..<5: end(who, some, deadline, &index, &model)
            case 5:
                for topic in some {
                    index.approve(
                        TopicHandle(index: UInt32(topic)), for: account(who),
                        created: Wall(milliseconds: 3))
                    model[who, default: [:]][topic, default: Leased()].isApproved = true
                }
            default:
                for topic in some {
                    index.endApproved(TopicHandle(index: UInt32(topic)), of: account(who))
                    model[who]?[topic]?.isApproved = false
                    drop(topic, who, &model)
                }
            }
            if step % 50 == 0 { compare(index, model) }
        }
        compare(index, model)
        index.checkInvariants()
    }

    /// The leases of a subscription in the model.
    struct Leased {
        var deadline: UInt64?
        var isApproved = false

        var leases: Leases {
            let timed: Leases = deadline == nil ? [] : .timed
            return isApproved ? timed.union(.approved) : timed
        }
    }

    func drop(_ topic: Int, _ who: Int, _ model: inout [Int: [Int: Leased]]) {
        if model[who]?[topic]?.leases.isEmpty == true { model[who]?[topic] = nil }
    }

    func end(
        _ who: Int, _ some: Set<Int>, _ deadline: UInt64, _ index: inout SubscriptionIndex,
        _ model: inout [Int: [Int: Leased]]
    ) {
        var removed: [TopicHandle] = []
        let earliest = index.endTimed(of: account(who), into: &removed) {
            some.contains(Int($0.topic)) || $0.deadline.milliseconds <= deadline / 2
        }
        let gone = (model[who] ?? [:]).filter { topic, leased in
            guard let end = leased.deadline else { return false }
            return some.contains(topic) || end <= deadline / 2
        }
        for topic in gone.keys {
            model[who]?[topic]?.deadline = nil
            drop(topic, who, &model)
        }
        #expect(removed == topics(gone.keys.sorted()))
        #expect(earliest?.milliseconds == model[who]?.values.compactMap(\.deadline).min())
    }

    func subscribe(
        _ who: Int, _ some: Set<Int>, _ deadline: UInt64, _ index: inout SubscriptionIndex,
        _ model: inout [Int: [Int: Leased]]
    ) {
        let deadlinePoint = Mono(milliseconds: deadline)
        var new: [Int] = []
        for topic in some.sorted() {
            if let place = index.position(of: topics([topic])[0], by: account(who)) {
                index.renew(
                    account(who), at: place, created: Wall(milliseconds: 7),
                    deadline: deadlinePoint)
            } else {
                new.append(topic)
            }
            model[who, default: [:]][topic, default: Leased()].deadline = deadline
        }
        index.insert(
            topics(new), for: account(who), created: Wall(milliseconds: 7),
            deadline: deadlinePoint)
    }

    func compare(_ index: SubscriptionIndex, _ model: [Int: [Int: Leased]]) {
        for who in 0..<12 {
            let expected = model[who] ?? [:]
            #expect(index.count(of: account(who)) == expected.count)
            #expect(
                index.timedCount(of: account(who)) == expected.values.count { $0.deadline != nil })
            let subscriptions = who < index.subscriptions.count ? index.subscriptions[who] : []
            #expect(subscriptions.map { Int($0.topic) } == expected.keys.sorted())
            for subscription in subscriptions {
                let leased = expected[Int(subscription.topic)]
                let end = leased?.deadline ?? Subscription.never.milliseconds
                #expect(subscription.deadline.milliseconds == end)
                #expect(subscription.leases == leased?.leases)
            }
        }
        for topic in 0..<40 {
            let fan = topic < index.fans.count ? index.fans[topic] : []
            let watchers = model.filter { $0.value[topic] != nil }.keys.map { UInt32($0) }
            #expect(fan.map(\.account).sorted() == watchers.sorted())
        }
    }

    @Test func `keeps times of 48 bits exact`() {
        let latest = Mono(milliseconds: 1 << 48 - 1)
        let created = Wall(milliseconds: 4_102_444_800_123)
        var subscription = Subscription(
            topic: 1, position: 2, lease: .timed, created: created, deadline: latest)
        #expect(subscription.deadline == latest)
        #expect(subscription.created == created)
        subscription.deadline = Mono(milliseconds: 0x1_0000_0001)
        #expect(subscription.deadline.milliseconds == 0x1_0000_0001)
        #expect(subscription.created == created)
        subscription.leases = .approved
        #expect(subscription.created == created)
        #expect(subscription.deadline.milliseconds == 0x1_0000_0001)
        subscription.created = Wall(milliseconds: .max)
        #expect(subscription.created.milliseconds == 1 << 46 - 1)
        #expect(subscription.leases == .approved)
        #expect(MemoryLayout<Subscription>.stride == 20)
        #expect(MemoryLayout<Watcher>.stride == 4)
    }

    /// A million subscriptions of 10,000 accounts with a hundred each, as one request made them.
    @Test func `takes at most 40 bytes a subscription`() {
        var index = SubscriptionIndex()
        let accounts = 10_000
        for who in 0..<accounts {
            let list = (0..<100).map { (who &* 7 + $0 &* 13) % accounts }.sorted()
            index.insert(
                topics(list), for: account(who), created: Wall(milliseconds: 1),
                deadline: Mono(milliseconds: 1))
        }
        #expect(index.count == 1_000_000)
        let bytes = Double(index.bytesReserved) / Double(index.count)
        print("a subscription takes \(bytes) bytes")
        #expect(bytes <= 40)
    }

    @Test func `gives memory back when everybody leaves`() {
        var index = SubscriptionIndex()
        for who in 0..<1_000 {
            index.insert(
                topics(0..<50), for: account(who), created: Wall(milliseconds: 1),
                deadline: Mono(milliseconds: 1))
        }
        let full = index.bytesReserved
        for who in 0..<1_000 {
            var removed: [TopicHandle] = []
            _ = index.endTimed(of: account(who), into: &removed) { _ in true }
        }
        #expect(index.count == 0)
        #expect(index.bytesReserved < full / 10)
        index.checkInvariants()
    }

    @Test func `gives memory back when most leave`() {
        var index = SubscriptionIndex()
        for who in 0..<1_000 {
            index.insert(
                topics(0..<1_000), for: account(who), created: Wall(milliseconds: 1),
                deadline: Mono(milliseconds: 1))
        }
        let full = index.bytesReserved
        for who in 0..<1_000 {
            var removed: [TopicHandle] = []
            // Each keeps 50, and each topic 50 subscribers.
            _ = index.endTimed(of: account(who), into: &removed) {
                (Int($0.topic) + who) % 20 != 0
            }
        }
        #expect(index.count == 50_000)
        #expect(index.bytesReserved < full / 8)
        index.checkInvariants()
    }
}
