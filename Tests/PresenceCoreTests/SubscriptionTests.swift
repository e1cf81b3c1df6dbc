import PresenceCore
import Testing

@Suite struct Subscriptions {
    let world = World()

    @Test func `run out on time, and every session of the subscriber is told`() {
        let first = world.login("alice", "d1")
        let second = world.login("alice", "d2")
        world.subscribe(first, ["bob", "carol"], seconds: 60)
        world.subscribe(first, ["dave"], seconds: 61)
        _ = world.take(first)
        _ = world.take(second)
        world.pass(milliseconds: 30_000)
        world.pass(milliseconds: 29_999)
        #expect(world.take(first) == [])
        world.pass(milliseconds: 1)
        let told = [Seen.expired(type: 1, publishers: ["bob", "carol"])]
        #expect(world.take(first) == told)
        #expect(world.take(second) == told)
        #expect(world.stats.subscriptions == 1)
        world.login("bob")
        #expect(world.events(first) == [])
        world.checkInvariants()
    }

    @Test func `are renewed by subscribing again, later or sooner`() {
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"], seconds: 60)
        world.subscribe(alice, ["bob"], seconds: 100)
        #expect(world.take(alice).last == .subscribed(count: 1, states: nil))
        world.drop(alice)
        world.pass(milliseconds: 99_999)
        #expect(world.stats.subscriptions == 1)
        world.pass(milliseconds: 1)
        #expect(world.stats.subscriptions == 0)
        let back = world.login("alice")
        world.subscribe(back, ["bob"], seconds: 1_000)
        world.subscribe(back, ["bob"], seconds: 60)
        world.drop(back)
        world.pass(seconds: 60)
        #expect(world.stats.subscriptions == 0)
        world.checkInvariants()
    }

    @Test func `are rejected beyond the quota, and nothing is changed`() {
        var settings = Settings()
        settings.limits.subscriptionsPerAccountMax = 3
        let world = World(settings)
        let alice = world.login("alice")
        world.subscribe(alice, ["a", "b"])
        world.subscribe(alice, ["b", "c", "d"])
        #expect(world.take(alice).last == .rejected(.subscriptionQuota))
        #expect(world.stats.subscriptions == 2)
        world.subscribe(alice, ["a", "b", "c"])
        #expect(world.take(alice).last == .subscribed(count: 3, states: nil))
        world.subscribe(alice, ["x"], type: 100)
        #expect(world.take(alice).last == .rejected(.subscriptionQuota))
        #expect(world.stored.count { $0.words.hasPrefix("put alice") } == 2)
        world.checkInvariants()
    }

    @Test func `answer with the states of all, unknown ones included, as asked for`() {
        let alice = world.login("alice")
        world.login("bob", "phone")
        let carol = world.login("carol", "tab")
        world.handle(.logout, from: carol)
        world.subscribe(alice, ["nobody", "carol", "bob"], answer: .withStates)
        guard case .subscribed(3, let states?)? = world.take(alice).last else {
            Issue.record("not subscribed")
            return
        }
        #expect(
            states.map(\.short) == [
                "nobody 0 sync []", "carol 2 sync []", #"bob 1 sync ["ios:phone"]"#,
            ])
        #expect(states[1].lastSeen == World.start)
        #expect(states[0].lastSeen == nil)
    }

    @Test func `end by unsubscribing from some or from all of a type`() {
        let alice = world.login("alice")
        world.subscribe(alice, ["a", "b", "c"])
        world.subscribe(alice, ["a", "b"], type: 100)
        world.unsubscribe(alice, ["a", "x"])
        #expect(world.take(alice).last == .unsubscribed(removed: 1, count: 4))
        world.unsubscribe(alice, nil)
        #expect(world.take(alice).last == .unsubscribed(removed: 2, count: 2))
        world.unsubscribe(alice, nil)
        #expect(world.take(alice).last == .unsubscribed(removed: 0, count: 2))
        world.unsubscribe(alice, ["a", "b"], type: 100)
        #expect(world.take(alice).last == .unsubscribed(removed: 2, count: 0))
        world.handle(.ping, from: alice)
        #expect(world.stats.accounts == 1, "publishers nobody needs any more are forgotten")
        world.checkInvariants()
    }

    @Test func `belong to the account, whichever device made them`() {
        let first = world.login("alice", "d1")
        world.subscribe(first, ["bob"])
        let second = world.login("alice", "d2")
        _ = world.take(second)
        world.login("bob")
        #expect(world.events(second).map(\.value) == [1])
        world.unsubscribe(second, nil)
        _ = world.take(first)
        world.login("bob", "another")
        #expect(world.events(first) == [])
    }

    @Test func `that are ended are told to the other sessions, and by an app server to all`() {
        let first = world.login("alice", "d1")
        let second = world.login("alice", "d2")
        let other = world.login("bob")
        world.subscribe(first, ["bob", "carol", "dave"])
        world.subscribe(first, ["bob"], type: 100)
        _ = world.take(first)
        _ = world.take(second)
        world.unsubscribe(second, ["carol", "nobody"])
        let carol = Seen.expired(type: 1, publishers: ["carol"], cause: .unsubscribed)
        #expect(world.take(first) == [carol])
        #expect(world.take(second) == [.unsubscribed(removed: 1, count: 3)])
        world.unsubscribe(world.appServer(), nil, for: "alice")
        let all = Seen.expired(type: 1, publishers: ["bob", "dave"], cause: .unsubscribed)
        #expect(world.take(first) == [all])
        #expect(world.take(second) == [all])
        world.unsubscribe(second, nil)
        #expect(world.take(first) == [], "nothing has ended")
        world.drop(second)
        world.unsubscribe(first, nil, type: 100)
        #expect(world.take(first) == [.unsubscribed(removed: 1, count: 0)])
        #expect(world.take(other).isEmpty == false, "its login list")
        world.checkInvariants()
    }

    @Test func `that are ended are told when that is stored, and not if it fails`() {
        let first = world.login("alice", "d1")
        let second = world.login("alice", "d2")
        world.subscribe(first, ["bob"])
        world.storeWaits = true
        _ = world.take(first)
        _ = world.take(second)
        world.unsubscribe(second, ["bob"])
        #expect(world.take(first) == [])
        world.fail()
        #expect(world.take(first) == [])
        world.unsubscribe(second, ["bob"])
        world.commit()
        let told = Seen.expired(type: 1, publishers: ["bob"], cause: .unsubscribed)
        #expect(world.take(first) == [told])
    }

    @Test func `to oneself are as good as any`() {
        let alice = world.login("alice", "d1")
        world.subscribe(alice, ["alice"])
        _ = world.take(alice)
        world.publish(alice, 10_001)
        #expect(world.events(alice).map(\.value) == [10_001])
        world.login("alice", "d2")
        #expect(world.events(alice).map(\.value) == [1])
    }

    @Test func `are listed page by page, each once, whatever comes and goes`() {
        let alice = world.login("alice")
        let all = (0..<25).map { "p\($0)" }
        world.subscribe(alice, all)
        var cursor: UInt64?
        var listed: [String] = []
        repeat {
            var effects = Effects()
            world.withEngine {
                $0.handle(
                    .subscriptions(
                        account: nil, ListSubscriptions(cursor: cursor, entriesMax: 10)),
                    RequestTexts().ofLast, from: alice, at: world.now, into: &effects)
            }
            guard case .subscriptions(let entries, _, let next)? = effects.answers.last else {
                Issue.record("no page")
                return
            }
            listed += effects.subscriptions[entries].map { effects.text($0.publisher) }
            cursor = next
            world.unsubscribe(alice, ["p0", "p1"])
            world.subscribe(alice, ["p\(100 + listed.count)"])
        } while cursor != nil
        #expect(Set(listed).isSuperset(of: all))
        #expect(Set(listed).count == listed.count)
    }

    @Test func `are listed for the publisher, too`() {
        let server = world.appServer()
        for number in 0..<25 {
            world.subscribe(server, ["bob"], for: "w\(number)")
        }
        _ = world.take(server)
        var cursor: UInt64?
        var listed: [String] = []
        repeat {
            var effects = Effects()
            var texts = RequestTexts()
            let bob = texts.add("bob")
            world.withEngine {
                $0.handle(
                    .subscribers(
                        ListSubscribers(
                            type: .presence, publisher: bob, cursor: cursor, entriesMax: 10)),
                    texts.ofLast, from: server, at: world.now, into: &effects)
            }
            guard case .subscribers(let entries, 25, let next)? = effects.answers.last else {
                Issue.record("no page")
                return
            }
            listed += effects.subscribers[entries].map { effects.text($0.account) }
            cursor = next
        } while cursor != nil
        #expect(listed.sorted() == (0..<25).map { "w\($0)" }.sorted())
    }
}
