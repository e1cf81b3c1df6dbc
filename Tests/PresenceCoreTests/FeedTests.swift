import Containers
import PresenceCore
import Testing

/// A table of all states, kept as a backend keeps it.
struct FeedTable {
    struct Key: Hashable { var publisher: String, type: Int }
    private(set) var states: [Key: (state: State, seq: UInt64)] = [:]

    mutating func learn(_ state: State, _ seq: UInt64) {
        let key = Key(publisher: state.publisher, type: state.type)
        #expect(seq >= states[key]?.seq ?? 0, "something older follows something newer")
        states[key] = (state, seq)
    }

    /// What is not taken for granted: who is online, and statuses.
    var inForce: [String] {
        states.values.map(\.state).filter { $0.status != nil || $0.online?.isEmpty == false }
            .map { "\($0.publisher)/\($0.type) \($0.online ?? []) \($0.status ?? "")" }.sorted()
    }
}

@Suite struct `The feed` {
    /// The states in force, looked at in pieces as small as `topicsMax` and `statesMax` say.
    func walk(
        _ world: World, from cursor: ListCursor = .start, topicsMax: Int = .max,
        statesMax: Int = .max
    ) -> (states: [(State, UInt64)], next: ListCursor) {
        var effects = Effects()
        var cursor = cursor
        let now = world.now
        let reader = ConnectionID(slot: 0, generation: 1)
        world.withEngine {
            $0.continueSnapshot(
                &cursor, for: reader, topicsMax: min(topicsMax, 1_000), statesMax: statesMax,
                at: now, into: &effects)
        }
        let count = effects.events.count
        #expect(effects.items == (count == 0 ? [] : [.states(reader, 0..<count, .feedList)]))
        return (effects.events.map { (effects.state($0), $0.seq) }, cursor)
    }

    @Test func `tells nothing while it is off, and what nobody watches while it is on`() {
        let world = World()
        let alice = world.login("alice")
        #expect(world.takeFed().isEmpty)
        world.withEngine { $0.setFeed(.on) }
        world.publish(alice, 10_001)
        world.publish(alice, 20_000, type: 100)
        world.handle(.logout, from: alice)
        let told = world.takeFed().map(\.state.short)
        #expect(
            told == [
                "alice 10001 publish [\"ios:d1\"]", "alice 20000 publish []", "alice 2 logout []",
            ])
        world.withEngine { $0.setFeed(.off) }
        world.login("alice")
        #expect(world.takeFed().isEmpty)
    }

    @Test func `tells of a device that only push reaches, though that is no event`() {
        let world = World()
        world.withEngine { $0.setFeed(.on) }
        let alice = world.login("alice", reach: .push)
        world.drop(alice)
        _ = world.takeFed()
        world.pass(seconds: world.settings.disconnectGraceSeconds)
        #expect(world.takeFed().map(\.state.short) == ["alice 1 sync [\"ios:d1*\"]"])
    }

    @Test func `begins with those who are online and with statuses, and with nobody else`() {
        let world = World()
        let server = world.appServer()
        let alice = world.login("alice")
        let bob = world.login("bob")
        world.subscribe(bob, ["nobody", "alice", "carol"])
        world.publish(server, 20_000, type: 100, for: "carol")
        world.publish(server, 10_002, for: "dora")
        world.handle(.logout, from: alice)
        let all = walk(world)
        #expect(all.next.isComplete)
        #expect(
            all.states.map(\.0.short).sorted() == [
                "bob 1 sync [\"ios:d1\"]", "carol 20000 sync []", "dora 0 sync []",
            ])
        #expect(walk(world, topicsMax: 1).next == .before(TopicHandle(index: 1)))
        #expect(walk(world, statesMax: 1).states.count == 1)
        #expect(walk(world, from: .before(TopicHandle(index: 4_000_000_000))).next.isComplete)
    }

    @Test(arguments: 1...100)
    func `has no gap between the states and the stream`(seed: Int) {
        print("feed seed \(seed)")
        var random = SplitMix64(seed: UInt64(seed))
        let world = World()
        world.withEngine { $0.setFeed(.on) }
        let server = world.appServer()
        var table = FeedTable()
        var position = ListCursor.start
        var step = 0
        while !position.isComplete || step < 60 {
            change(world, server, &random)
            world.checkInvariants()
            for line in world.takeFed() where position.covers(line.topic) {
                table.learn(line.state, line.seq)
            }
            step += 1
            guard !position.isComplete, step > 20 else { continue }
            let piece = walk(world, from: position, topicsMax: 3, statesMax: 2)
            for (state, seq) in piece.states { table.learn(state, seq) }
            position = piece.next
        }
        var truth = FeedTable()
        for (state, seq) in walk(world).states { truth.learn(state, seq) }
        #expect(table.inForce == truth.inForce)
        #expect(!truth.inForce.isEmpty)
    }

    /// Something happens to one of a few accounts; names come and go.
    private func change(_ world: World, _ server: ConnectionID, _ random: inout SplitMix64) {
        let name = "n\(Int.random(in: 0..<12, using: &random))"
        let type = Bool.random(using: &random) ? 1 : Int.random(in: 100...103, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: world.login(name, "d\(Int.random(in: 0..<2, using: &random))", reach: .push)
        case 3: world.kick(server, name)
        case 4..<8: world.publish(server, 10_000, type: type, seconds: 60, for: name)
        case 8: world.clear(server, type: type, for: name)
        default: world.pass(seconds: Int.random(in: 1...30, using: &random))
        }
        _ = world.take(server)
    }
}
