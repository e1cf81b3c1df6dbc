import Containers
import PresenceCore
import Testing

@Suite struct `Large fan-outs` {
    let world: World
    let bob: ConnectionID

    init() {
        var settings = Settings()
        settings.subscribersPerSlice = 2
        world = World(settings)
        bob = world.login("bob")
        world.fanOutsWait = true
    }

    func watchers(_ count: Int) -> [ConnectionID] {
        (0..<count).map { number in
            let watcher = world.login("w\(number)")
            world.subscribe(watcher, ["bob"])
            _ = world.take(watcher)
            return watcher
        }
    }

    func drain() { while world.stats.fanOuts > 0 { world.continueFanOuts() } }

    @Test func `reach everybody once, in order, however small the slices`() {
        let all = watchers(7)
        for value in Int32(10_000)..<10_005 { world.publish(bob, value) }
        #expect(world.take(bob).count { $0 == .published } == 5, "the publisher does not wait")
        world.continueFanOuts()
        #expect(all.contains { world.seen[$0]?.isEmpty == true }, "not all at once")
        drain()
        for watcher in all {
            #expect(world.events(watcher).map(\.value) == Array(10_000..<10_005))
        }
    }

    @Test(arguments: [true, false])
    func `tell a contact that leaves what it has not been told yet`(isWalked: Bool) {
        _ = watchers(5)
        let server = world.appServer()
        let friend = world.login("friend", hears: .all)
        world.say(friend, .subscribe, to: "bob")
        world.say(server, .subscribed, to: "friend", for: "bob")
        drain()
        _ = world.take(friend)
        world.setVisibility(bob, .hidden)
        #expect(world.events(friend).isEmpty, "not all at once")
        if isWalked { drain() }
        // Its sight has ended before: that it leaves ends nothing.
        world.say(friend, .unsubscribe, to: "bob")
        drain()
        #expect(world.events(friend).filter { $0.publisher == "bob" }.map(\.cause) == [.hidden])
    }

    @Test func `let those who leave go and those who stay be told once`() {
        for leaver in 0..<7 {
            for turnsBefore in 0..<8 {
                let world = `Large fan-outs`()
                let all = world.watchers(7)
                world.world.publish(world.bob, 10_000)
                for _ in 0..<turnsBefore { world.world.continueFanOuts() }
                world.world.unsubscribe(all[leaver], nil)
                world.drain()
                for (number, watcher) in all.enumerated() where number != leaver {
                    #expect(
                        world.world.events(watcher).map(\.value) == [10_000],
                        "\(leaver) left after \(turnsBefore) turns")
                }
                world.world.checkInvariants()
            }
        }
    }

    @Test func `tell nobody anything older than the state he was sent`() {
        let all = watchers(5)
        world.publish(bob, 10_000)
        world.publish(bob, 10_001)
        let late = world.login("late")
        world.subscribe(late, ["bob"], answer: .withStates)
        let again = world.login("w0", "d2", sync: .all)
        world.subscribe(all[1], ["bob"], answer: .withStates)
        world.publish(bob, 10_002)
        drain()
        #expect(world.events(late).map(\.value) == [10_002])
        #expect(world.events(again).map(\.value) == [10_002])
        #expect(world.events(all[1]).map(\.value) == [10_002])
        #expect(world.events(all[4]).map(\.value) == [10_000, 10_001, 10_002])
    }

    @Test func `give way when too many wait, but never the newest`() {
        let all = watchers(5)
        for value in Int32(10_000)..<10_200 { world.publish(bob, value) }
        #expect(world.stats.eventsConflated > 100)
        drain()
        for watcher in all {
            let values = world.events(watcher).map(\.value)
            #expect(values.first == 10_000)
            #expect(values.last == 10_199)
            #expect(values == values.sorted())
        }
    }

    @Test func `of several publishers take turns`() {
        let carol = world.login("carol")
        let all = watchers(6)
        for watcher in all { world.subscribe(watcher, ["carol"]) }
        world.publish(bob, 10_000)
        world.publish(carol, 10_001)
        for _ in 0..<6 { world.continueFanOuts() }
        let seen = all.flatMap { world.events($0).map(\.value) }
        #expect(Set(seen) == [10_000, 10_001])
        drain()
        world.checkInvariants()
    }

    @Test func `outlive the last watcher`() {
        let all = watchers(5)
        world.publish(bob, 10_000)
        world.continueFanOuts()
        for watcher in all { world.unsubscribe(watcher, nil) }
        world.handle(.logout, from: bob)
        drain()
        world.handle(.ping, from: all[0])
        #expect(world.stats.fanOuts == 0)
        world.checkInvariants()
    }
}

/// Whatever waits and is delayed, in the end everybody knows the truth.
@Suite struct Convergence {
    @Test(arguments: 1...60)
    func `of every view on the state that is`(seed: Int) {
        print("convergence seed \(seed)")
        var random = SplitMix64(seed: UInt64(seed))
        var settings = Settings()
        settings.subscribersPerSlice = 1
        settings.limits.statesPerFrameMax = 2
        settings.disconnectGraceSeconds = 1
        let world = World(settings)
        world.fanOutsWait = true
        world.listsWait = true
        var open: [ConnectionID] = []
        for _ in 0..<300 {
            step(world, &open, &random)
            open.removeAll { !world.isOpen($0) }
        }
        while world.stats.fanOuts > 0 { world.continueFanOuts() }
        for _ in 0..<20 { world.continueLists() }
        check(world, open)
        world.checkInvariants()
    }

    func step(
        _ world: World, _ open: inout [ConnectionID], _ random: inout SplitMix64
    ) {
        let names = ["a", "b", "c", "d", "e"]
        guard let someone = open.randomElement(using: &random),
            Int.random(in: 0..<10, using: &random) > 1
        else {
            let name = names.randomElement(using: &random) ?? "a"
            // One device each: what another device subscribes to, this one is not told of.
            open.append(world.login(name, "x", sync: .all))
            return
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: world.drop(someone)
        case 1: world.handle(.logout, from: someone)
        case 2: world.pass(milliseconds: 700)
        case 3...4:
            world.subscribe(
                someone, Array(names.shuffled(using: &random).prefix(3)), answer: .withStates)
        case 5: world.unsubscribe(someone, [names.randomElement(using: &random) ?? "a"])
        case 6...8: world.publish(someone, Int32.random(in: 10_000...10_009, using: &random))
        case 9: world.clear(someone)
        case 10: world.continueLists()
        default: world.continueFanOuts()
        }
    }

    func check(_ world: World, _ open: [ConnectionID]) {
        let server = world.appServer()
        for connection in open {
            world.handle(.subscriptions(account: nil, ListSubscriptions()), from: connection)
            let last = world.take(connection).last
            guard case .subscriptions(let lines, _, _)? = last else { continue }
            for line in lines {
                world.query(server, [line.name])
                guard case .queried(let states)? = world.take(server).last else { continue }
                let view = world.view[connection]?["1/\(line.name)"]
                #expect(view?.online == states[0].online, "\(line.name)")
                #expect(view?.status == states[0].status, "\(line.name)")
                #expect(view?.lastSeen == states[0].lastSeen, "\(line.name)")
            }
        }
    }
}
