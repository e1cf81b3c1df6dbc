import Testing

@testable import PresenceCore

/// Whose a push address is: two people may share a browser, or a phone.
@Suite struct `A push address` {
    private static let browser =
        #"{"endpoint":"https://push.example.org/e1","keys":{"p256dh":"k","auth":"a"}}"#

    private func waiting() -> World {
        let world = World(Settings().withoutPace)
        world.storeWaits = true
        return world
    }

    private func addresses(_ world: World, _ app: ConnectionID, of account: String) -> [String] {
        _ = world.take(app)
        world.listDevices(app, for: account)
        guard case .devices(let lines)? = world.take(app).last else { return ["no list"] }
        return lines.map(\.pushAddress)
    }

    private func set(_ world: World, _ app: ConnectionID, _ account: String, _ address: String) {
        world.setDevice(app, pushAddress: address, device: "web", for: account)
    }

    private func settle(_ world: World) { while world.waiting > 0 { world.commit() } }

    @Test(arguments: [
        (Self.browser, Self.browser),
        // With its members in another order, as another library writes it.
        (
            Self.browser,
            #"{"keys":{"auth":"b","p256dh":"c"}, "endpoint": "https://push.example.org/e1"}"#
        ),
        (Self.browser, #"{"endpoint":"https:\/\/push.example.org\/e1"}"#),
        ("apns:6f", "apns:6f"), ("fcm:1", "fcm:1"),
    ])
    func `belongs to the device that was given it last`(first: String, second: String) {
        let world = waiting()
        let (app, other) = (world.appServer(), world.appServer())
        set(world, app, "ann", first)
        world.setDevice(other, alias: "b", device: "web", for: "bob")
        settle(world)
        set(world, app, "bob", second)
        // Until it is durable it is the first one's.
        #expect(addresses(world, other, of: "ann") == [first])
        #expect(addresses(world, other, of: "bob") == [""])
        settle(world)
        // A device that has nothing else is forgotten.
        #expect(addresses(world, other, of: "ann") == [])
        #expect(addresses(world, other, of: "bob") == [second])
        world.checkInvariants()
    }

    @Test func `is taken in one write, or not at all`() {
        let world = waiting()
        let (app, other) = (world.appServer(), world.appServer())
        world.setDevice(app, alias: "a", pushAddress: "apns:1", device: "web", for: "ann")
        settle(world)
        _ = world.takeStored()
        set(world, app, "bob", "apns:1")
        world.fail()
        #expect(addresses(world, other, of: "ann") == ["apns:1"])
        #expect(addresses(world, other, of: "bob") == [])
        let before = world.now.wall.milliseconds
        world.pass(milliseconds: 5)
        set(world, app, "bob", "apns:1")
        settle(world)
        let after = world.now.wall.milliseconds
        #expect(
            world.takeStored().last
                == "device bob web 0 0 6 \(after), taking from device ann web 1 0 0 \(before)")
        world.checkInvariants()
    }

    @Test func `is in one change at a time, whichever account makes it`() {
        let world = waiting()
        let (app, other, third) = (world.appServer(), world.appServer(), world.appServer())
        set(world, app, "ann", "apns:1")
        settle(world)
        // Ann's device gets a label, with the address that it has, and Bob's takes that.
        world.setDevice(app, alias: "a", device: "web", for: "ann")
        set(world, other, "bob", "apns:1")
        set(world, third, "cid", "apns:1")
        #expect(world.waiting == 1)
        settle(world)
        #expect(addresses(world, app, of: "ann") == [""])
        #expect(addresses(world, app, of: "bob") == [])
        #expect(addresses(world, app, of: "cid") == ["apns:1"])
        // Others do not wait for it.
        set(world, app, "ann", "apns:1")
        set(world, other, "bob", "apns:2")
        #expect(world.waiting == 2)
        settle(world)
        world.checkInvariants()
    }

    @Test func `is removed only if it is still that one`() {
        let world = waiting()
        let (app, pusher) = (world.appServer(), world.appServer())
        set(world, app, "ann", "apns:1")
        settle(world)
        // A renewal crosses the removal of the old one.
        set(world, app, "ann", "apns:2")
        world.removeAddress(pusher, "apns:1", device: "web", for: "ann")
        settle(world)
        #expect(
            world.take(pusher) == [.deviceSet(DeviceLine(device: "web", pushAddress: "apns:2"))])
        #expect(addresses(world, app, of: "ann") == ["apns:2"])
        world.removeAddress(pusher, "apns:2", device: "web", for: "ann")
        settle(world)
        #expect(world.take(pusher) == [.deviceSet(DeviceLine(device: "web"))])
        #expect(addresses(world, app, of: "ann") == [])
        world.checkInvariants()
    }

    @Test(arguments: [true, false])
    func `that several devices had is restored for the last`(isInOrder: Bool) {
        let world = World()
        let ages: [(String, Int64)] = [("ann", 1), ("bob", 2), ("cid", 1)]
        world.withEngine { engine in
            for (account, age) in isInOrder ? ages : ages.reversed() {
                engine.restoreDevice(
                    of: engine.restoreName(Array(account.utf8).span), on: Array("web".utf8),
                    DeviceLabels(
                        alias: Array(account.utf8), tags: [], pushAddress: Array("apns:1".utf8)),
                    updated: Wall(milliseconds: age))
            }
        }
        let app = world.appServer()
        #expect(
            ["ann", "bob", "cid"].map { addresses(world, app, of: $0) } == [[""], ["apns:1"], [""]])
        world.checkInvariants()
    }
}
