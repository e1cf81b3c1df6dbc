import Containers
import PresenceCore
import Testing

extension [Seen] {
    /// The publishers and values of statuses that were sent, in the order of the publishers.
    fileprivate var statuses: [String] {
        let states = flatMap { seen -> [State] in
            switch seen {
            case .event(let state): [state]
            case .states(let states): states
            default: []
            }
        }
        return states.map { state in
            "\(state.publisher) \(state.status?.split(separator: "|").first ?? "-")"
        }.sorted()
    }
}

@Suite struct `A session that does not keep up` {
    @Test func `is sent the newest states when it has drained, and then events again`() {
        let world = World()
        let alice = world.login("alice")
        world.subscribe(alice, ["bob", "carol"])
        let bob = world.login("bob")
        let carol = world.login("carol")
        _ = world.take(alice)
        world.publish(bob, 10_001)
        _ = world.take(alice)
        world.missLast(alice)
        world.publish(bob, 10_002)
        world.publish(carol, 10_003)
        #expect(world.take(alice).isEmpty, "events are withheld")
        #expect(world.withEngine { $0.topicsMissed(by: alice) } == 2)
        world.drain(alice)
        #expect(world.take(alice).statuses == ["bob 10002", "carol 10003"])
        #expect(world.isCaughtUp(alice))
        world.publish(bob, 10_004)
        #expect(world.take(alice).statuses == ["bob 10004"])
    }

    @Test func `that has nothing to be sent is told so`() {
        let world = World()
        let alice = world.login("alice")
        #expect(!world.isCaughtUp(alice))
        world.drain(alice)
        #expect(world.isCaughtUp(alice))
    }

    @Test func `misses its own events, too`() {
        let world = World()
        let phone = world.login("alice", "phone")
        let tablet = world.login("alice", "tablet")
        world.subscribe(phone, ["bob"])
        world.login("bob")
        world.missLast(tablet)
        _ = world.take(tablet)
        world.publish(phone, 10_001, own: .included)
        #expect(world.take(tablet).isEmpty)
        world.drain(tablet)
        #expect(world.take(tablet).statuses == ["alice 10001", "bob -"])
    }

    @Test func `misses an event that was on its way when it had caught up`() {
        let world = World()
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        let bob = world.login("bob")
        world.publish(bob, 10_001)
        world.missLast(alice)
        world.drain(alice)
        world.publish(bob, 10_002)
        _ = world.take(alice)
        // Its connection had not been told yet that it has caught up.
        world.missLast(alice)
        world.publish(bob, 10_003)
        #expect(world.take(alice).isEmpty)
        world.drain(alice)
        #expect(world.take(alice).statuses == ["bob 10003"])
    }

    @Test func `is sent what it has missed in turn, though the rest changes again and again`() {
        var settings = Settings().withoutPace
        settings.limits.statesPerFrameMax = 1
        let world = World(settings)
        let alice = world.login("alice")
        let names = ["bob", "carol", "dave"]
        world.subscribe(alice, names)
        let publishers = names.map { world.login($0) }
        world.missesEvents = [alice]
        for publisher in publishers { world.publish(publisher, 10_001) }
        world.missesEvents = []
        _ = world.take(alice)
        for value in 2...4 {
            world.drain(alice)
            for publisher in publishers.prefix(2) {
                world.publish(publisher, 10_000 + Int32(value))
            }
        }
        #expect(world.take(alice).statuses.contains("dave 10001"))
    }

    @Test(arguments: 1...100)
    func `knows the newest states in the end, whatever it missed`(seed: Int) {
        print("conflation seed \(seed)")
        var random = SplitMix64(seed: UInt64(seed))
        var settings = Settings()
        settings.limits.statesPerFrameMax = 2
        settings.subscribersPerSlice = [1, 1_000].randomElement(using: &random) ?? 1
        let world = World(settings)
        let names = (0..<6).map { "p\($0)" }
        let first = world.login("alice", "first")
        world.subscribe(first, names)
        let publishers = names.map { world.login($0) }
        world.listsWait = true
        world.fanOutsWait = true
        let alice = world.login("alice", "second", sync: .all)
        for _ in 0..<200 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: world.drain(alice)
            case 1: world.continueFanOuts()
            case 2: world.missesEvents = world.missesEvents.isEmpty ? [alice] : []
            default:
                let publisher = publishers.randomElement(using: &random) ?? publishers[0]
                world.publish(publisher, Int32.random(in: 10_000..<11_000, using: &random))
            }
            world.checkInvariants()
        }
        world.missesEvents = []
        world.fanOutsWait = false
        world.continueFanOuts()
        for _ in 0..<20 { world.drain(alice) }
        for name in names {
            let known = world.view[alice]?["1/\(name)"]?.status
            #expect(known == world.view[first]?["1/\(name)"]?.status, "of \(name)")
        }
    }
}
