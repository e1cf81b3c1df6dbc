import PresenceCore
import Testing

/// What a request makes the engine visit is counted, and bounded by what its account has.
@Suite struct `Work of the engine` {
    let world = World(Settings().withoutPace)

    @Test(arguments: [100, 65_535])
    func `of a change of visibility is that of the account's topics, whatever their types`(
        type: Int
    ) {
        let bob = world.login("bob")
        world.publish(bob, 10_001, type: type)
        let visits = world.visits { world.setVisibility(bob, .hidden) }
        // Presence and one other.
        #expect(visits == 2 * 16)
    }

    @Test func `of a change of visibility grows with the topics`() {
        let bob = world.login("bob")
        let alice = world.login("alice")
        for type in 100..<150 { world.subscribe(alice, ["bob"], type: type) }
        #expect(world.visits { world.setVisibility(bob, .hidden) } == 51 * 16)
    }

    @Test func `of a list of contacts is that of its page`() {
        let bob = world.login("bob")
        for number in 0..<50 { world.relate(bob, "contact\(number)", .describe(.none)) }
        #expect(world.visits { world.contacts(bob, entriesMax: 10) } == 10 * 16)
        #expect(world.visits { world.contacts(bob, entriesMax: 1_000) } == 50 * 16)
    }

    @Test func `of changes of a long list is counted, also if they change little`() {
        let alice = world.login("alice")
        let names = (0..<500).map { "publisher\($0)" }
        world.subscribe(alice, names)
        #expect(world.visits { world.subscribe(alice, [names[0]]) } >= 500)
        #expect(world.visits { world.unsubscribe(alice, [names[0]]) } >= 500)
        for name in names.prefix(100) { world.relate(alice, name, .describe(.none)) }
        #expect(world.visits { world.relate(alice, names[0], .remove) } >= 100)
    }
}
