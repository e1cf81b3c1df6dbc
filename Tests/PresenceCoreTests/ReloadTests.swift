import PresenceCore
import Testing

@Suite struct `Settings that change while clients are connected` {
    let world = World()

    func apply(_ change: (inout Settings) -> Void) {
        var settings = world.settings
        change(&settings)
        world.apply(settings)
    }

    @Test func `hold for the next request, and take nothing away`() {
        let alice = world.login("alice")
        world.subscribe(alice, ["bob", "carol"], seconds: 60)
        apply { $0.limits.subscriptionsPerAccountMax = 1 }
        _ = world.take(alice)
        world.subscribe(alice, ["dave"], seconds: 60)
        #expect(world.take(alice) == [.rejected(.subscriptionQuota)])
        #expect(world.stats.subscriptions == 2)
        // What there is may be renewed.
        world.subscribe(alice, ["bob"], seconds: 100)
        #expect(world.take(alice).last == .subscribed(count: 2, states: nil))
        world.checkInvariants()
    }

    @Test func `leave deadlines under way as they are`() {
        let watcher = world.login("alice")
        world.subscribe(watcher, ["bob", "carol"], seconds: 600)
        let bob = world.login("bob")
        let carol = world.login("carol")
        _ = world.take(watcher)
        world.drop(bob)
        apply { $0.disconnectGraceSeconds = 1 }
        world.drop(carol)
        world.pass(milliseconds: 1_000)
        #expect(world.events(watcher).map(\.publisher) == ["carol"])
        world.pass(milliseconds: 4_000)
        #expect(world.events(watcher).map(\.publisher) == ["bob"])
    }

    @Test func `may set a limit on watchers while some are on their way to join`() {
        let alice = world.login("alice")
        let dave = world.login("dave")
        world.storeWaits = true
        world.subscribe(alice, ["bob"], seconds: 60)
        apply { $0.subscribersPerPublisherMax = 1 }
        world.commit()
        world.storeWaits = false
        _ = world.take(dave)
        world.subscribe(dave, ["bob"], seconds: 60)
        #expect(world.take(dave) == [.rejected(.subscriberQuota)])
        world.checkInvariants()
    }
}
