import PresenceCore
import Testing

@Suite struct `Devices that push reaches` {
    func watched(_ policy: PushReachablePolicy) -> (World, alice: ConnectionID) {
        var settings = Settings()
        settings.pushReachable = policy
        let world = World(settings)
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        _ = world.take(alice)
        return (world, alice)
    }

    /// Keeps the watcher's own session alive while time passes.
    func pass(_ world: World, _ alice: ConnectionID, seconds: Int) {
        for _ in 0..<(seconds / 20 + 1) {
            world.pass(milliseconds: UInt64(seconds) * 1_000 / UInt64(seconds / 20 + 1))
        }
    }

    @Test func `stay online without an event when their connection is lost`() {
        let (world, alice) = watched(.online)
        let phone = world.login("bob", "phone", reach: .push)
        _ = world.take(alice)
        world.drop(phone)
        pass(world, alice, seconds: 60)
        #expect(world.take(alice) == [])
        let server = world.appServer()
        world.query(server, ["bob"])
        guard case .queried(let states)? = world.take(server).last else {
            Issue.record("no states")
            return
        }
        #expect(states.map(\.online) == [["ios:phone*"]])
        #expect(states.map(\.value) == [1])
    }

    @Test func `make a login when they come back after the grace`() {
        let (world, alice) = watched(.online)
        let phone = world.login("bob", "phone", reach: .push)
        world.login("bob", "tab", .web)
        _ = world.take(alice)
        world.drop(phone)
        world.pass(seconds: 6)
        world.login("bob", "phone", reach: .push)
        #expect(
            world.events(alice).map(\.short) == [#"bob 1 login ["web:tab", "ios:phone"]"#])
        world.checkInvariants()
    }

    @Test func `make no event when they come back within it`() {
        let (world, alice) = watched(.online)
        let phone = world.login("bob", "phone", reach: .push)
        _ = world.take(alice)
        world.drop(phone)
        world.pass(seconds: 4)
        world.login("bob", "phone", reach: .push)
        #expect(world.take(alice) == [])
    }

    @Test func `are gone after seven days`() {
        let (world, alice) = watched(.online)
        let phone = world.login("bob", "phone", reach: .push)
        world.drop(phone)
        world.drop(alice)
        world.pass(seconds: 7 * 86_400 + 4)
        #expect(world.stats.sessions == 1)
        world.pass(seconds: 1)
        #expect(world.stats.sessions == 0)
        world.checkInvariants()
    }

    @Test func `can be kicked`() {
        let (world, alice) = watched(.online)
        world.drop(world.login("bob", "phone", reach: .push))
        world.pass(seconds: 6)
        _ = world.take(alice)
        let server = world.appServer()
        world.kick(server, "bob")
        #expect(world.events(alice).map(\.short) == ["bob 2 kicked []"])
    }

    @Test func `count as any other where the operator says so`() {
        let (world, alice) = watched(.offline)
        let phone = world.login("bob", "phone", reach: .push)
        _ = world.take(alice)
        world.drop(phone)
        world.pass(seconds: 5)
        #expect(world.events(alice).map(\.short) == ["bob 3 disconnect []"])
    }
}
