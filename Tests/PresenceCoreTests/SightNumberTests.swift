import PresenceCore
import Testing

/// The `seq` of what is told of publishers that one may not see.
@Suite struct `The number of a state that is not seen` {
    let world = World()

    /// What bob's number is for a login list of alice.
    private func number(hears: Leases = .timed) -> UInt64? {
        world.pass(seconds: 1)
        world.login("alice", "phone", sync: .all, hears: hears)
        return world.newestSeq(of: "bob", toldTo: "alice/phone")
    }

    @Test(arguments: [Visibility.approved, .hidden])
    func `does not rise with what the publisher does`(visibility: Visibility) {
        let bob = world.login("bob")
        world.subscribe(world.login("alice", "phone"), ["bob"])
        world.publish(bob, 10_001)
        world.setVisibility(bob, visibility)
        let first = number()
        world.publish(bob, 10_002)
        world.login("bob", "tablet")
        world.handle(.logout, from: bob)
        #expect(first != nil && number() == first)
        world.setVisibility(world.appServer(), .open, for: "bob")
        // `World` itself requires that no number falls.
        #expect(number() ?? 0 > first ?? 0)
    }

    @Test func `rises when the sight begins while nobody is there to be told`() {
        let server = world.appServer()
        let alice = world.login("alice", "phone")
        world.subscribe(alice, ["bob"])
        let bob = world.login("bob")
        world.setVisibility(bob, .approved)
        let before = number()
        world.pass(seconds: 1)
        world.kick(server, "alice")
        world.say(server, .subscribe, to: "bob", for: "alice")
        world.say(bob, .subscribed, to: "alice")
        let after = number(hears: .all)
        #expect(after ?? 0 > before ?? 0)
        // One may see bob: there is nothing to conceal, and no number falls.
        #expect(number(hears: .timed) ?? 0 >= after ?? 0)
    }

    @Test func `is not below what was seen of a contact that has ended it`() {
        let alice = world.login("alice", "phone", hears: .all)
        let bob = world.login("bob")
        world.subscribe(alice, ["bob"])
        world.setVisibility(bob, .approved)
        world.say(alice, .subscribe, to: "bob")
        world.say(bob, .subscribed, to: "alice")
        world.publish(bob, 10_001)
        world.say(bob, .unsubscribed, to: "alice")
        let first = number(hears: .all)
        world.publish(bob, 10_002)
        #expect(number(hears: .all) == first)
    }

    /// An event has a number that is new to its receiver.
    @Test func `is not that of an event for one who was told in an answer, and did not keep up`() {
        let alice = world.login("alice", "phone", hears: .all)
        let bob = world.login("bob")
        world.subscribe(alice, ["bob"])
        _ = world.take(alice)
        world.missesEvents = [alice]
        world.setVisibility(bob, .hidden)
        world.subscribe(alice, ["bob"], answer: .withStates)
        world.missesEvents = []
        world.drain(alice)
        let told = world.take(alice).states
        #expect(told.map(\.short) == ["bob 0 sync []"])
    }
}
