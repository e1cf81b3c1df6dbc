import Testing

@testable import PresenceCore

/// `setDevice` and `devices`.
@Suite struct `Setting devices` {
    /// A world without rate limits whose store commits only when it is told.
    private func waiting() -> World {
        let world = World(Settings().withoutPace)
        world.storeWaits = true
        return world
    }

    private func set(_ world: World, _ connection: ConnectionID) -> DeviceLine? {
        guard case .deviceSet(let line)? = world.take(connection).last else { return nil }
        return line
    }

    private func listed(
        _ world: World, _ connection: ConnectionID, of account: String? = nil
    ) -> [DeviceLine] {
        world.listDevices(connection, for: account)
        guard case .devices(let lines)? = world.take(connection).last else {
            Issue.record("no list")
            return []
        }
        return lines
    }

    private func labelCount(_ world: World) -> Int { world.withEngine { $0.deviceCount } }

    @Test func `what is given is set, and the rest stays`() {
        let world = World()
        let bob = world.login("bob", "phone")
        world.setDevice(bob, alias: "b", tags: ["x", "a", "x"], pushAddress: "p")
        let all = DeviceLine(device: "phone", alias: "b", tags: ["a", "x"], pushAddress: "p")
        #expect(set(world, bob) == all)
        world.setDevice(bob, tags: [])
        #expect(set(world, bob) == DeviceLine(device: "phone", alias: "b", pushAddress: "p"))
        world.setDevice(bob, alias: "", device: "phone", for: "bob")
        #expect(set(world, bob) == DeviceLine(device: "phone", pushAddress: "p"))
        world.setDevice(bob, pushAddress: "")
        #expect(set(world, bob) == DeviceLine(device: "phone"))
        #expect(labelCount(world) == 0)
        #expect(
            world.takeStored().suffix(2) == [
                "device bob phone 0 0 1 \(world.now.wall.milliseconds)", "remove device bob phone",
            ])
        world.checkInvariants()
    }

    @Test func `is shown and answered when it is durable, and not before`() {
        let world = waiting()
        let bob = world.login("bob", "phone")
        let app = world.appServer()
        world.commit()
        world.setDevice(bob, alias: "b")
        world.setDevice(app, tags: ["t"], device: "phone", for: "bob")
        #expect(set(world, bob) == nil && set(world, app) == nil)
        #expect(labelCount(world) == 0)
        #expect(listed(world, app, of: "bob") == [])
        world.commit()
        #expect(set(world, bob) == DeviceLine(device: "phone", alias: "b"))
        #expect(set(world, app) == nil)
        world.commit()
        #expect(set(world, app) == DeviceLine(device: "phone", alias: "b", tags: ["t"]))
        world.checkInvariants()
    }

    @Test func `a store that fails leaves a device as it was`() {
        let world = waiting()
        let bob = world.login("bob", "phone")
        world.setDevice(bob, alias: "b")
        while world.waiting > 0 { world.commit() }
        for change in ["", "c"] {
            _ = world.take(bob)
            world.setDevice(bob, alias: change)
            world.fail()
            #expect(world.take(bob) == [.rejected(.storeUnavailable)])
            #expect(listed(world, bob).map(\.alias) == ["b"])
        }
        world.checkInvariants()
    }

    @Test func `the checks that depend on the device are made after what is in flight`() {
        let world = waiting()
        let bob = world.login("bob", "phone")
        let app = world.appServer()
        while world.waiting > 0 { world.commit() }
        let long = (0..<25).map { "t\($0 + 10)" + String(repeating: "x", count: 37) }
        world.setDevice(bob, tags: long)
        world.setDevice(app, alias: String(repeating: "a", count: 25), device: "phone", for: "bob")
        world.commit()
        #expect(set(world, bob)?.tags.count == 25)
        #expect(world.take(app) == [.rejected(.labelsTooLong)])
        #expect(world.waiting == 0)
        world.setDevice(app, alias: String(repeating: "a", count: 24), device: "phone", for: "bob")
        world.commit()
        #expect(set(world, app)?.alias.count == 24)
        world.checkInvariants()
    }

    @Test func `a request is rejected for who sends it before its labels are looked at`() {
        var settings = Settings()
        settings.deviceLabels = .appServers
        let world = World(settings)
        let bob = world.login("bob", "phone")
        let app = world.appServer()
        let rejections: [(ConnectionID, String?, [String]?, String?, String?, Rejection.Reason)] = [
            (bob, ".", nil, nil, nil, .forbidden), (bob, nil, ["."], "", nil, .forbidden),
            (bob, nil, nil, "p", "pad", .forbidden), (bob, nil, nil, nil, nil, .nothingSet),
            (app, ".", nil, nil, nil, .missingField), (app, ".", nil, nil, "pad", .invalidAlias),
        ]
        for (peer, alias, tags, address, device, reason) in rejections {
            _ = world.take(peer)
            world.setDevice(
                peer, alias: alias, tags: tags, pushAddress: address, device: device,
                for: peer == app ? "bob" : nil)
            #expect(world.take(peer) == [.rejected(reason)])
        }
        world.setDevice(bob, pushAddress: "p")
        #expect(set(world, bob) == DeviceLine(device: "phone", pushAddress: "p"))
        world.setDevice(bob, alias: "b", for: "eve")
        #expect(world.take(bob) == [.rejected(.forbidden)])
        #expect(world.find("eve") == nil)
        world.setDevice(app, alias: "b", device: "phone", for: "bob")
        #expect(set(world, app)?.alias == "b")
    }

    @Test func `nothing is set with messages turned off, and it draws from the pace`() {
        var settings = Settings()
        settings.publishPace = Pace(perSecond: 1, burst: 2)
        let world = World(settings)
        let bob = world.login("bob")
        for _ in 0..<2 { world.setDevice(bob, alias: "b") }
        world.setDevice(bob, alias: ".")
        world.setDevice(bob, alias: "c")
        world.listDevices(bob)
        let line = DeviceLine(device: "d1", alias: "b")
        var connected = line
        connected.session = "ios connected"
        #expect(
            world.take(bob).suffix(5) == [
                .deviceSet(line), .deviceSet(line), .rejected(.invalidAlias),
                .rejected(.rateLimited),
                .devices([connected]),
            ])
        settings.messages = .off
        let off = settings
        world.withEngine { engine in
            var effects = Effects()
            engine.apply(off, into: &effects)
        }
        world.setDevice(bob, alias: ".")
        world.listDevices(bob)
        #expect(world.take(bob) == [.rejected(.forbidden), .rejected(.forbidden)])
    }

    @Test func `devices are listed by name, with their sessions`() {
        var settings = Settings().withoutPace
        settings.disconnectGraceSeconds = 0
        let world = World(settings)
        let app = world.appServer()
        #expect(listed(world, app, of: "nobody") == [])
        #expect(world.find("nobody") == nil)
        let phone = world.login("bob", "phone", .ios, reach: .push)
        world.login("bob", "tv", .other)
        for device in ["web", "phone", "pad"] {
            world.setDevice(app, alias: "b", device: device, for: "bob")
        }
        let resource = world.connect()
        world.bind("bob", "web", on: resource)
        world.drop(phone)
        world.pass(seconds: 1)
        _ = world.take(app)
        #expect(
            listed(world, app, of: "bob").map { "\($0.device) \($0.session ?? "-")" }
                == ["pad -", "phone ios pushOnly", "web xmpp hidden"])
    }

    @Test func `labels survive a logout, and the last one goes with the account`() {
        let world = World()
        let bob = world.login("bob", "phone")
        world.setDevice(bob, alias: "b")
        world.handle(.logout, from: bob)
        let app = world.appServer()
        #expect(listed(world, app, of: "bob").map(\.alias) == ["b"])
        for _ in 0..<2 {
            world.setDevice(
                app, alias: "", tags: [], pushAddress: "", device: "phone", for: "never")
            #expect(set(world, app) == DeviceLine(device: "phone"))
            #expect(listed(world, app, of: "never") == [])
        }
        world.setDevice(app, alias: "n", device: "phone", for: "never")
        #expect(listed(world, app, of: "never").count == 1)
        world.setDevice(app, alias: "", device: "phone", for: "never")
        world.handle(.ping, from: app)
        #expect(world.find("never") == nil)
        world.checkInvariants()
    }

    @Test func `beyond twenty, the one set longest ago without a session is forgotten`() {
        let world = World(Settings().withoutPace)
        let app = world.appServer()
        let zero = world.login("bob", "d00")
        for number in 0..<20 {
            world.pass(seconds: 1)
            world.setDevice(app, alias: "b", device: name(number), for: "bob")
        }
        #expect(listed(world, app, of: "bob").map(\.device) == (0..<20).map(name))
        // Setting one of them again forgets none; and it is then no longer the oldest.
        world.setDevice(app, alias: "c", device: "d01", for: "bob")
        // Nor does a removal.
        world.setDevice(app, alias: "", device: "d30", for: "bob")
        #expect(listed(world, app, of: "bob").count == 20)
        _ = world.takeStored()
        world.setDevice(app, alias: "b", device: "d20", for: "bob")
        let stored = world.takeStored()
        #expect(stored.count == 2 && stored.last == "remove device bob d02")
        #expect(
            listed(world, app, of: "bob").map(\.device) == (0..<21).filter { $0 != 2 }.map(name))
        world.handle(.logout, from: zero)
        world.setDevice(app, alias: "b", device: "d21", for: "bob")
        #expect(world.takeStored().last == "remove device bob d00")
        world.checkInvariants()
    }

    private func name(_ number: Int) -> String { number < 10 ? "d0\(number)" : "d\(number)" }

    @Test func `a change outlives the connection that requested it`() {
        let world = waiting()
        let bob = world.login("bob", "phone")
        while world.waiting > 0 { world.commit() }
        world.setDevice(bob, alias: "b")
        world.handle(.logout, from: bob)
        while world.waiting > 0 { world.commit() }
        world.storeWaits = false
        #expect(
            listed(world, world.appServer(), of: "bob") == [
                DeviceLine(device: "phone", alias: "b")
            ])
        world.checkInvariants()
    }
}
