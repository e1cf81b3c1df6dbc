import PresenceCore
import Testing

@Suite struct `Account retention` {
    static let day = 86_400

    /// A world whose clients have been let in, and that remembers accounts for two days.
    func world(rememberSeconds: Int = 2 * day) -> World {
        var settings = Settings()
        settings.rememberSeconds = rememberSeconds
        let world = World(settings)
        let now = world.now
        world.withEngine { $0.beginReturns(at: now) }
        return world
    }

    func visit(_ world: World, _ name: String) {
        world.handle(.logout, from: world.login(name))
    }

    func isForgotten(_ name: String, in world: World) -> Bool {
        world.stored.contains { $0.words == "forget \(name)" }
    }

    @Test func `are forgotten, within a day after the time is over`() {
        let world = world()
        visit(world, "bob")
        world.pass(seconds: 2 * Self.day - 60)
        #expect(world.find("bob") != nil && world.stats.accountsForgotten == 0)
        world.pass(seconds: Self.day + 60)
        #expect(world.find("bob") == nil)
        #expect(isForgotten("bob", in: world) && world.stats.accountsForgotten == 1)
        #expect(world.stats.accounts == 0)
        world.checkInvariants()
    }

    @Test func `are kept while they have a subscriber`() {
        let world = world()
        visit(world, "bob")
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"], seconds: 5 * Self.day)
        world.handle(.logout, from: alice)
        world.pass(seconds: 4 * Self.day)
        #expect(world.find("bob") != nil)
        world.pass(seconds: 3 * Self.day)
        #expect(world.find("bob") == nil && world.find("alice") == nil)
        world.checkInvariants()
    }

    @Test func `are new when they come back after that`() {
        let world = world()
        visit(world, "bob")
        world.pass(seconds: 4 * Self.day)
        visit(world, "bob")
        #expect(world.stored.last?.words == "account bob 2")
        world.pass(seconds: Self.day)
        #expect(world.find("bob") != nil)
    }

    @Test func `are not forgotten by a clock that was set`() {
        let world = world()
        visit(world, "bob")
        world.pass(seconds: 2 * 3_600)
        world.wallJump = Int64(30 * Self.day) * 1_000
        world.pass(seconds: 3_000)
        #expect(world.find("bob") != nil)
        world.wallJump = 0
        world.pass(seconds: 3_000)
        #expect(world.find("bob") != nil && world.stats.accountsForgotten == 0)
    }

    @Test func `are forgotten a thousand a minute at most`() {
        let world = world(rememberSeconds: 7_200)
        for number in 0..<2_500 { visit(world, "u\(number)") }
        world.pass(seconds: 7_200)
        #expect(world.stats.accountsForgotten == 0)
        world.pass(seconds: 60)
        #expect((1...1_000).contains(world.stats.accountsForgotten))
        world.pass(seconds: 180)
        #expect(world.stats.accountsForgotten == 2_500 && world.stats.accounts == 0)
        world.checkInvariants()
    }
}
