import PresenceCore
import Testing

@Suite struct `Discarded messages` {
    let world = World()
    let zs: ConnectionID
    let app: ConnectionID

    init() {
        zs = world.login("zs", "phone")
        app = world.appServer()
        _ = world.take(zs)
    }

    @Test func `are answered when their removal is on disk`() {
        world.send(zs, to: "lisi", body: "one")
        world.storeWaits = true
        world.discard(app, "lisi")
        #expect(world.take(app) == [])
        world.checkInvariants()
        world.commit()
        #expect(world.take(app) == [.discarded(1)])
        // Earlier removals need no answer, and may wait: so it asks even where nothing waits.
        world.discard(app, "lisi")
        #expect(world.take(app) == [])
        world.commit()
        #expect(world.take(app) == [.discarded(0)])
        world.checkInvariants()
    }

    @Test func `are sent to nobody meanwhile, and later ones are`() {
        world.send(zs, to: "lisi", body: "one")
        world.storeWaits = true
        world.discard(app, "lisi")
        let lisi = world.login("lisi", messages: .on)
        world.send(zs, to: "lisi", body: "two")
        while world.waiting > 0 { world.commit() }
        #expect(
            world.take(lisi) == [
                .loggedIn(account: "lisi", subscriptions: 0, waiting: 0), .synced(0),
                .messages(["two"]),
            ])
        #expect(world.take(app) == [.discarded(1)])
        world.checkInvariants()
    }

    @Test func `are removed later if the store fails, and the app server is told`() {
        world.send(zs, to: "lisi", body: "one")
        world.storeWaits = true
        world.discard(app, "lisi")
        _ = world.takeStored()
        world.fail()
        #expect(world.take(app) == [.rejected(.storeUnavailable)])
        #expect(world.takeStored().count == 1)
        let lisi = world.login("lisi", messages: .on)
        #expect(
            world.take(lisi).first
                == .loggedIn(account: "lisi", subscriptions: 0, waiting: 0))
        world.checkInvariants()
    }

    @Test func `may be those of a sender, for one account or for all`() {
        let mallory = world.login("mallory")
        _ = world.take(mallory)
        for account in ["a", "b", "c"] {
            world.send(mallory, to: account, body: "spam for \(account)")
            world.send(zs, to: account, body: "hello \(account)")
        }
        world.discard(app, "b", from: "mallory")
        world.discard(app, "unknown", from: "mallory")
        world.discard(app, "a", from: "unknown")
        world.discard(app, nil, from: "nobody")
        world.discard(app, nil, from: "mallory")
        world.discard(app, nil, from: "mallory")
        #expect(
            world.take(app) == [
                .discarded(1, hasMore: false), .discarded(0, hasMore: false),
                .discarded(0, hasMore: false), .discarded(0, hasMore: false),
                .discarded(2, hasMore: false), .discarded(0, hasMore: false),
            ])
        #expect(world.messages.rows.count == 3)
        for account in ["a", "b", "c"] {
            let reader = world.login(account, messages: .on)
            #expect(world.take(reader).last == .messages(["hello \(account)"]))
        }
        world.checkInvariants()
    }

    @Test func `of a sender are at most a thousand in a request`() {
        var settings = Settings().withoutPace
        settings.limits.messagesPerAccountMax = 600
        settings.limits.messagesPerSenderMax = 10_000
        let world = World(settings)
        let app = world.appServer()
        for number in 0..<600 { world.send(app, to: "a", "b", body: "m\(number)", for: "zs") }
        _ = world.take(app)
        world.discard(app, nil, from: "zs")
        world.discard(app, nil, from: "zs")
        world.discard(app, nil, from: "zs")
        #expect(
            world.take(app) == [
                .discarded(1_000, hasMore: true), .discarded(200, hasMore: false),
                .discarded(0, hasMore: false),
            ])
        #expect(world.messages.rows.isEmpty)
        world.checkInvariants()
    }
}
