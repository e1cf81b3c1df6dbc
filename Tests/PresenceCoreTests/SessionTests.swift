import PresenceCore
import Testing

/// alice watches bob; what does she see of his sessions?
@Suite struct `Sessions as subscribers see them` {
    let world: World
    let alice: ConnectionID

    init() {
        var settings = Settings()
        settings.disconnectGraceSeconds = 5
        world = World(settings)
        alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        _ = world.take(alice)
    }

    var seen: [String] { world.events(alice).map(\.short) }

    @Test func `each device makes its own login`() {
        world.login("bob", "phone")
        world.login("bob", "tab", .web)
        #expect(
            seen == [
                #"bob 1 login ["ios:phone"]"#, #"bob 1 login ["ios:phone", "web:tab"]"#,
            ])
    }

    @Test func `a logout is told at once and shows the devices that remain`() {
        let phone = world.login("bob", "phone")
        world.login("bob", "tab", .web)
        _ = seen
        world.handle(.logout, from: phone)
        #expect(seen == [#"bob 2 logout ["web:tab"]"#])
        #expect(world.take(phone).suffix(2) == [.loggedOut, .closed(nil)])
        world.checkInvariants()
    }

    @Test func `a lost connection is told after the grace and not before`() {
        let phone = world.login("bob", "phone")
        _ = seen
        world.pass(milliseconds: 700)
        world.drop(phone)
        let lost = world.now.wall.milliseconds
        world.pass(milliseconds: 4_999)
        #expect(seen == [])
        world.pass(milliseconds: 1)
        let events = world.events(alice)
        #expect(events.map(\.short) == ["bob 3 disconnect []"])
        #expect(events.first?.origin == "ios:phone")
        #expect(events.first?.lastSeen == lost)
    }

    @Test func `a return within the grace makes no event at all`() {
        let phone = world.login("bob", "phone")
        _ = seen
        world.drop(phone)
        world.pass(milliseconds: 4_999)
        world.login("bob", "phone")
        world.pass(seconds: 20)
        #expect(seen == [])
        world.checkInvariants()
    }

    @Test func `another device's return does not save the first`() {
        let phone = world.login("bob", "phone")
        _ = seen
        world.drop(phone)
        world.login("bob", "tab", .web)
        world.pass(seconds: 6)
        #expect(
            seen == [
                #"bob 1 login ["ios:phone", "web:tab"]"#, #"bob 3 disconnect ["web:tab"]"#,
            ])
    }

    @Test func `without grace a lost connection is told at once`() {
        var settings = Settings()
        settings.disconnectGraceSeconds = 0
        let world = World(settings)
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        let phone = world.login("bob", "phone")
        _ = world.take(alice)
        world.drop(phone)
        #expect(world.events(alice).map(\.short) == ["bob 3 disconnect []"])
    }

    @Test func `a session that fell silent was last seen when it was last heard`() {
        let phone = world.login("bob", "phone")
        _ = seen
        world.pass(milliseconds: 45_000)
        world.drop(phone, .silent, lastHeard: 15_000)
        #expect(seen == [])
        world.pass(seconds: 5)
        let event = world.events(alice).last
        #expect(event?.short == "bob 3 disconnect []")
        #expect(event?.lastSeen == World.start + 15_000)
    }

    @Test func `the same device again replaces the old session unnoticed`() {
        let old = world.login("bob", "phone")
        _ = seen
        let new = world.login("bob", "phone")
        #expect(world.take(old).last == .closed(.replaced))
        #expect(!world.isOpen(old))
        #expect(seen == [])
        world.drop(old)
        world.pass(seconds: 40)
        #expect(seen == [], "the end of the old connection is not that of the session")
        world.drop(new)
        world.pass(seconds: 20)
        #expect(seen == ["bob 3 disconnect []"])
        world.checkInvariants()
    }

    @Test func `a kick ends sessions and says so`() {
        let phone = world.login("bob", "phone")
        world.login("bob", "tab", .web)
        _ = seen
        let server = world.appServer()
        world.kick(server, "bob", device: "phone")
        #expect(world.take(server) == [.kicked(1)])
        #expect(seen == [#"bob 2 kicked ["web:tab"]"#])
        #expect(world.take(phone).last == .closed(.kicked(reason: nil)))
        world.kick(server, "bob")
        #expect(seen == ["bob 2 kicked []"])
        world.kick(server, "bob")
        world.kick(server, "nobody")
        #expect(world.take(server) == [.kicked(1), .kicked(0), .kicked(0)])
        world.checkInvariants()
    }

    @Test func `one session too many is rejected`() {
        for number in 0..<10 { world.login("bob", "d\(number)") }
        let rejected = world.connect()
        world.login("bob", "d10", on: rejected)
        #expect(world.take(rejected) == [.rejected(.sessionQuota)])
        world.login("bob", "d9", on: world.connect())
        #expect(world.stats.sessions == 11)
    }

    @Test func `sessions whose connection is lost give way, the oldest first`() {
        let devices = (0..<8).map { world.login("bob", "d\($0)") }
        world.drop(world.login("bob", "push", reach: .push))
        world.pass(seconds: 6)
        let grace = world.login("bob", "grace")
        world.drop(devices[3])
        world.drop(grace)
        _ = world.take(alice)
        for name in ["new1", "new2", "new3"] { world.login("bob", name) }
        let events = world.events(alice)
        #expect(events.map(\.value) == [3, 1, 3, 1, 3, 1])
        #expect(
            events.filter { $0.value == 3 }.map(\.origin) == [
                "ios:d3", "ios:push", "ios:grace",
            ])
        #expect(events.allSatisfy { $0.value == 1 || $0.cause == .disconnect })
        let rejected = world.connect()
        world.login("bob", "new4", on: rejected)
        #expect(world.take(rejected) == [.rejected(.sessionQuota)], "all of them are connected")
        #expect(world.stats.sessions == 11)
        world.checkInvariants()
    }
}
