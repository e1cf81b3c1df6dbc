import PresenceCore
import Testing

@Suite struct Statuses {
    let world = World()
    let alice: ConnectionID
    let bob: ConnectionID

    init() {
        alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        bob = world.login("bob", "phone")
        _ = world.take(alice)
        _ = world.take(bob)
    }

    @Test func `reach watchers and the publisher's other sessions`() {
        let tab = world.login("bob", "tab", .web)
        _ = world.take(alice)
        _ = world.take(tab)
        world.publish(bob, 10_001, ext: "busy")
        let event = world.events(alice)
        #expect(event.map(\.value) == [10_001])
        #expect(event.first?.origin == "ios:phone")
        #expect(event.first?.ext == "busy")
        #expect(event.first?.status?.hasPrefix("10001|busy|") == true)
        #expect(world.events(tab).map(\.value) == [10_001])
        #expect(world.take(bob) == [.published])
        world.publish(bob, 10_002, own: .excluded)
        #expect(world.events(tab) == [])
        #expect(world.events(alice).map(\.value) == [10_002])
    }

    @Test func `run out on time and give way to the connection's own value`() {
        world.publish(bob, 10_001, seconds: 60)
        _ = world.take(alice)
        for _ in 0..<2 {
            world.pass(milliseconds: 29_999)
        }
        #expect(world.take(alice) == [])
        world.pass(milliseconds: 2)
        let events = world.events(alice)
        #expect(events.map(\.short) == [#"bob 1 expired ["ios:phone"]"#])
        #expect(events.first?.status == nil)
        world.checkInvariants()
    }

    @Test func `live as long as the last publish says`() {
        world.publish(bob, 10_001, seconds: 60)
        world.publish(bob, 10_002, seconds: 600)
        world.drop(bob)
        world.drop(alice)
        world.pass(milliseconds: 599_999)
        #expect(world.stats.statuses == 1)
        world.pass(milliseconds: 1)
        #expect(world.stats.statuses == 0)
    }

    @Test func `can be taken back`() {
        world.publish(bob, 10_001)
        _ = world.take(alice)
        world.clear(bob)
        #expect(world.take(bob).last == .cleared(true))
        #expect(world.events(alice).map(\.short) == [#"bob 1 cleared ["ios:phone"]"#])
        world.clear(bob)
        #expect(world.take(bob) == [.cleared(false)])
        #expect(world.events(alice) == [])
    }

    @Test func `outlive the sessions, whose events show them`() {
        world.publish(bob, 10_001, ext: "gone fishing")
        world.handle(.logout, from: bob)
        let events = world.events(alice)
        #expect(events.map(\.value) == [10_001, 2])
        #expect(events.last?.status?.hasPrefix("10001|gone fishing|") == true)
        world.subscribe(alice, ["bob"], answer: .withStates)
        guard case .subscribed(_, let states?)? = world.take(alice).last else {
            Issue.record("not subscribed")
            return
        }
        #expect(states.map(\.value) == [2], "nobody is online")
    }

    @Test func `of an app's own types say nothing of presence`() {
        world.subscribe(alice, ["bob"], type: 100, answer: .withStates)
        guard case .subscribed(2, let before?)? = world.take(alice).last else {
            Issue.record("not subscribed")
            return
        }
        #expect(before.map(\.value) == [0])
        #expect(before.first?.online == nil)
        world.publish(bob, 12_345, type: 100)
        world.clear(bob, type: 100)
        let events = world.events(alice)
        #expect(events.map(\.value) == [12_345, 0])
        #expect(events.map(\.type) == [100, 100])
        world.checkInvariants()
    }

    @Test func `are published by app servers without an origin`() {
        let server = world.appServer()
        world.publish(server, 10_001, for: "bob")
        let events = world.events(alice)
        #expect(events.map(\.value) == [10_001])
        #expect(events.first?.origin == nil)
        #expect(world.events(bob).map(\.value) == [10_001], "all of his sessions are others")
    }

    @Test func `beyond the quota are rejected, but not new values of old ones`() {
        var settings = Settings()
        settings.limits.statusesPerAccountMax = 2
        let world = World(settings)
        let bob = world.login("bob")
        world.publish(bob, 10_000, type: 100)
        world.publish(bob, 10_000, type: 101)
        world.publish(bob, 10_000, type: 102)
        #expect(world.take(bob).last == .rejected(.statusQuota))
        world.publish(bob, 10_001, type: 101)
        #expect(world.take(bob).last == .published)
    }
}
