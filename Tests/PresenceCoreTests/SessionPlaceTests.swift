import PresenceCore
import Testing

/// Where the session of an XMPP client goes when its account has as many as it may have.
@Suite struct `The place of one session more` {
    /// Clients of XMPP do not show their users that a bind is rejected.
    @Test func `is that of the session that was not heard for the longest time`() {
        var settings = Settings()
        settings.limits.sessionsPerAccountMax = 3
        let world = World(settings)
        let alice = world.login("alice", "a")
        world.subscribe(alice, ["bob"])
        let native = world.login("bob", "native")
        let shown = world.connect()
        world.bind("bob", "shown", on: shown)
        world.handle(.show(Availability()), from: shown)
        let hidden = world.connect()
        world.bind("bob", "hidden", on: hidden)
        _ = world.take(alice)
        // The highest slot is the idlest: a hidden session goes without a word to others.
        let brief = world.connect()
        world.bind("bob", "brief", on: brief)
        #expect(world.take(hidden).last == .closed(.replaced))
        #expect(world.events(alice).isEmpty)
        world.drop(brief)
        #expect(world.stats.sessions == 3)
        // A shown one ends for others at once.
        let other = world.connect()
        world.bind("bob", "other", on: other)
        world.handle(.show(Availability()), from: other)
        _ = world.take(alice)
        let last = world.connect()
        world.bind("bob", "last", on: last)
        #expect(world.take(other).last == .closed(.replaced))
        #expect(world.events(alice).map(\.origin) == ["xmpp:other"])
        // One that is lost goes first.
        world.drop(shown)
        let next = world.connect()
        world.bind("bob", "next", on: next)
        #expect(world.events(alice).map(\.origin) == ["xmpp:shown"])
        #expect(![native, last].contains { world.take($0).last == .closed(.replaced) })
        world.checkInvariants()
    }
}
