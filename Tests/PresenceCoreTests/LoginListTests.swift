import PresenceCore
import Testing

@Suite struct `Login lists` {
    let world: World

    init() {
        var settings = Settings()
        settings.limits.statesPerFrameMax = 4
        world = World(settings)
        let alice = world.login("alice")
        world.subscribe(alice, (0..<10).map { "p\($0)" })
        for number in 0..<5 { world.login("p\(number)") }
        world.handle(.logout, from: world.login("p9"))
        world.handle(.logout, from: alice)
    }

    func states(_ seen: [Seen]) -> [[String]] {
        seen.compactMap { if case .states(let list) = $0 { list.map(\.publisher) } else { nil } }
    }

    @Test func `hold those who are online`() {
        let alice = world.login("alice", sync: .online)
        let seen = world.take(alice)
        #expect(states(seen).map(\.count) == [4, 1])
        #expect(Set(states(seen).joined()) == ["p0", "p1", "p2", "p3", "p4"])
        #expect(seen.first == .loggedIn(account: "alice", subscriptions: 10))
        #expect(seen.last == .synced(5))
    }

    @Test func `hold everybody where that is asked for`() {
        let alice = world.login("alice", sync: .all)
        let seen = world.take(alice)
        #expect(states(seen).map(\.count) == [4, 4, 2])
        #expect(seen.last == .synced(10))
        let last = world.view[alice]?["1/p9"]
        #expect(last?.value == 2)
        #expect(world.view[alice]?["1/p8"]?.value == 0)
    }

    @Test func `are empty where nothing is asked for`() {
        let alice = world.login("alice", sync: .none)
        #expect(
            world.take(alice) == [.loggedIn(account: "alice", subscriptions: 10), .synced(0)])
        world.login("p7")
        #expect(world.events(alice).map(\.value) == [1])
    }

    @Test func `hold statuses that were left for those away, and no others`() {
        let server = world.appServer()
        world.publish(server, 10_001, audience: .everybody, for: "p7")
        world.publish(server, 10_002, audience: .onlineOnly, for: "p8")
        let alice = world.login("alice", sync: .online)
        let seen = world.take(alice)
        #expect(seen.last == .synced(6))
        #expect(states(seen).joined().contains("p7"))
        #expect(world.view[alice]?["1/p7"]?.status?.hasPrefix("10001|") == true)
    }

    @Test func `join the stream without a gap`() {
        world.listsWait = true
        let alice = world.login("alice", sync: .all)
        #expect(states(world.take(alice)).map(\.count) == [4])
        world.handle(.logout, from: world.login("p0"))
        world.login("p9", "another")
        let server = world.appServer()
        world.publish(server, 10_005, for: "p5")
        let early = world.take(alice)
        #expect(early.count == 1, "p0 is listed already; the others' states will tell")
        world.continueLists()
        world.continueLists()
        let late = world.take(alice)
        #expect(states(late).map(\.count) == [4, 2])
        #expect(late.last == .synced(10))
        #expect(world.view[alice]?["1/p9"]?.online == ["ios:another"])
        #expect(world.view[alice]?["1/p5"]?.status?.hasPrefix("10005|") == true)
        #expect(world.view[alice]?["1/p0"]?.value == 2)
        world.handle(.logout, from: world.login("p9", "third"))
        #expect(world.events(alice).map(\.value) == [1, 2], "the stream goes on")
    }
}

@Suite struct `What a login list owes` {
    /// Who was told by an answer that a publisher is online, while its list had not come to
    /// him, must not be left with that.
    @Test func `the end of a publisher whose state was answered before it was listed`() {
        var settings = Settings()
        settings.limits.statesPerFrameMax = 1
        let world = World(settings)
        let before = world.login("alice")
        world.subscribe(before, ["p0", "p1", "p2", "p3"])
        world.handle(.logout, from: before)
        let publishers = (0..<4).map { world.login("p\($0)") }
        world.listsWait = true
        let alice = world.login("alice", sync: .online)
        world.subscribe(alice, ["p3"], answer: .withStates)
        #expect(world.view[alice]?["1/p3"]?.online == ["ios:d1"])
        world.handle(.logout, from: publishers[3])
        for _ in 0..<6 { world.continueLists() }
        #expect(world.view[alice]?["1/p3"]?.online == [])
        #expect(world.view[alice]?["1/p3"]?.value == 2)
    }

    @Test func `of another type hold those who have a status of it`() {
        let world = World()
        let server = world.appServer()
        world.subscribe(server, ["p0", "p1", "p2", "p3", "p4"], type: 100, for: "alice")
        let publishers = (0..<3).map { world.login("p\($0)") }
        world.publish(publishers[0], 10_000, type: 100)
        world.publish(publishers[1], 10_000, type: 1)
        world.publish(server, 10_001, type: 100, audience: .everybody, for: "p3")
        world.publish(server, 10_002, type: 100, audience: .onlineOnly, for: "p4")
        let alice = world.login("alice", sync: .online)
        let lists = world.take(alice).compactMap {
            if case .states(let list) = $0 { list } else { nil }
        }
        #expect(
            lists.joined().map { "\($0.publisher) \($0.value)" } == [
                "p0 10000", "p3 10001", "p4 10002",
            ])
    }
}
