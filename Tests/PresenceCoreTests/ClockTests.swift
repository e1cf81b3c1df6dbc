import PresenceCore
import Testing

@Suite struct `A wall clock that jumps` {
    @Test(arguments: [3_600_000, -7_200_000, 315_360_000_000, -1_576_800_000_000] as [Int64])
    func `expires nothing early and revives nothing`(jump: Int64) {
        let world = World()
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"], seconds: 120)
        world.publish(alice, 10_001, seconds: 120)
        world.drop(alice)
        world.wallJump = jump
        world.pass(milliseconds: 119_999)
        #expect(world.stats.subscriptions == 1)
        #expect(world.stats.statuses == 1)
        world.pass(milliseconds: 1)
        #expect(world.stats.subscriptions == 0)
        #expect(world.stats.statuses == 0)
        world.wallJump = 0
        world.pass(seconds: 1)
        #expect(world.stats.subscriptions == 0)
    }

    @Test func `is what events show`() {
        let world = World()
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        world.wallJump = 3_600_000
        let bob = world.login("bob")
        world.handle(.logout, from: bob)
        #expect(world.events(alice).last?.lastSeen == World.start + 3_600_000)
    }

    @Test func `does not overflow the moments made of it`() {
        let late = Moment(mono: Mono(milliseconds: .max), wall: Wall(milliseconds: .max))
        #expect(late.wall(at: Mono(milliseconds: .max)).milliseconds == .max)
        #expect(late.mono(at: Wall(milliseconds: .min)) == late.mono)
        let early = Moment(mono: Mono(milliseconds: 0), wall: Wall(milliseconds: .min))
        #expect(early.mono(at: Wall(milliseconds: .max)).milliseconds == .max)
        #expect(Mono(milliseconds: .max).advanced(bySeconds: 5).milliseconds == .max)
    }
}

@Suite struct `An engine that was not called for some time` {
    /// The device of the second one may have returned meanwhile: its login waits to be read.
    @Test func `ends what was due by the time up to which input was taken in, and no more`() {
        var settings = Settings()
        settings.disconnectGraceSeconds = 30
        let world = World(settings)
        for name in ["first", "second"] {
            world.drop(world.login(name))
            world.pass(seconds: 5)
        }
        #expect(world.stats.sessions == 2)
        world.skip(milliseconds: 100_000, dueBy: 30_001)
        #expect(world.stats.sessions == 1)
        _ = world.login("second")
        world.skip(milliseconds: 0, dueBy: 110_000)
        #expect(world.stats.sessions == 1)
    }
}
