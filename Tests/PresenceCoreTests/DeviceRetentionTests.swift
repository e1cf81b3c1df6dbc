import Testing

@testable import PresenceCore

/// Devices in an engine: restored, and forgotten with their account.
@Suite struct `Devices of accounts` {
    private static let day = 86_400

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A world whose clients have been let in, and that remembers accounts for two days. Bob has
    /// never been there, and has two devices.
    private func world() -> World {
        var settings = Settings()
        settings.rememberSeconds = 2 * Self.day
        let world = World(settings)
        let now = world.now
        world.withEngine { engine in
            engine.restoreSequence(reservedUpTo: 5)
            restore("bob", "phone", at: now.wall, in: &engine)
            restore("bob", "pad", at: now.wall, in: &engine)
            let eve = engine.restoreName(bytes("eve").span)
            engine.restoreDevice(of: eve, on: bytes("tv"), .none, updated: now.wall)
            var effects = Effects()
            _ = engine.begin(into: &effects)
            engine.beginReturns(at: now)
        }
        return world
    }

    private func restore(
        _ account: String, _ device: String, at time: Wall, in engine: inout Engine
    ) {
        engine.restoreDevice(
            of: engine.restoreName(bytes(account).span), on: bytes(device),
            DeviceLabels(
                alias: bytes(account), storedTags: bytes("b\u{1F}a"), pushAddress: bytes("x")),
            updated: time)
    }

    private func words(_ world: World) -> [String] {
        world.stored.map(\.words).filter { $0 != "reserve" }
    }

    @Test func `are restored, and keep an account that was never there`() throws {
        let world = world()
        world.pass(seconds: Self.day)
        let bob = try #require(world.find("bob"))
        #expect(world.find("eve") == nil)
        world.withEngine { engine in
            let count = engine.deviceCount
            #expect(count == 2)
            let isOfBob = engine.belongsToSomebody(bytes("bob").span)
            let isOfEve = engine.belongsToSomebody(bytes("eve").span)
            #expect(isOfBob && !isOfEve)
            let labels = DeviceLabels(
                alias: bytes("bob"), tags: [bytes("a"), bytes("b")], pushAddress: bytes("x"))
            let found = engine.devices.labels(of: bob, on: bytes("phone"))
            #expect(found == labels)
            let devices = engine.devices.matches(aliases: [bytes("bob")], matchesMax: 5)
            #expect(
                devices
                    == .these(
                        [
                            DeviceAddress(account: bob, device: bytes("pad")),
                            DeviceAddress(account: bob, device: bytes("phone")),
                        ], passedOver: 0))
        }
        world.checkInvariants()
    }

    @Test func `are forgotten with their account, and removed from the store`() {
        let world = world()
        world.pass(seconds: 2 * Self.day - 60)
        #expect(world.find("bob") != nil && world.stats.accountsForgotten == 0)
        world.pass(seconds: Self.day + 60)
        #expect(world.find("bob") == nil)
        #expect(
            words(world).suffix(3) == [
                "remove device bob pad", "remove device bob phone", "forget bob",
            ])
        #expect(world.stats.accountsForgotten == 1)
        #expect(world.withEngine { $0.deviceCount } == 0)
        world.checkInvariants()
    }

    @Test func `keep their account from the time at which one was set`() {
        let world = world()
        world.handle(.logout, from: world.login("bob"))
        world.pass(seconds: 2 * Self.day - 3_600)
        let now = world.now.wall
        world.withEngine { restore("bob", "phone", at: now, in: &$0) }
        world.pass(seconds: 2 * Self.day)
        #expect(world.find("bob") != nil)
        world.checkInvariants()
        world.pass(seconds: Self.day)
        #expect(world.find("bob") == nil)
        #expect(words(world).contains("remove device bob phone"))
        world.checkInvariants()
    }

    @Test func `are kept while their account has a session`() {
        let world = world()
        let bob = world.login("bob")
        for _ in 0..<4 {
            world.pass(seconds: Self.day)
            #expect(world.withEngine { $0.deviceCount } == 2)
        }
        _ = world.take(bob)
        world.checkInvariants()
    }
}
