import PresenceCore
import Testing

/// What changes between the time at which contents are read and that at which they are sent.
@Suite struct `Readers of messages` {
    private let world = World()
    private let zs: ConnectionID

    init() {
        zs = world.login("zs", "phone")
        _ = world.take(zs)
    }

    private func reader() -> ConnectionID {
        let lisi = world.login("lisi", messages: .on)
        _ = world.take(lisi)
        return lisi
    }

    private func turnMessages(_ new: Settings.MessagesSwitch) {
        var settings = world.withEngine { $0.settings }
        settings.messages = new
        world.apply(settings)
    }

    @Test func `are sent nothing when their priority has fallen meanwhile`() {
        world.send(zs, to: "lisi", body: "one")
        world.readsWait = true
        let lisi = reader()
        world.handle(.setAvailability(Availability(priority: -1)), from: lisi)
        world.read()
        #expect(world.take(lisi) == [.availabilitySet])
        world.handle(.setAvailability(Availability(priority: 0)), from: lisi)
        world.read()
        #expect(world.take(lisi) == [.availabilitySet, .messages(["one"])])
        world.checkInvariants()
    }

    @Test func `are sent nothing while messages are off, and all of it afterwards`() {
        world.send(zs, to: "lisi", body: "one")
        world.readsWait = true
        let early = reader()
        turnMessages(.off)
        world.read()
        #expect(world.take(early) == [])
        let late = world.login("lisi", "late", messages: .on)
        world.read()
        #expect(
            world.take(late) == [
                .loggedIn(account: "lisi", subscriptions: 0, waiting: nil), .synced(0),
            ])
        turnMessages(.on)
        for lisi in [early, late] {
            world.read()
            #expect(world.take(lisi).last == .messages(["one"]))
        }
        world.checkInvariants()
    }

    @Test func `have room again for what is behind messages that another has taken`() {
        let (first, second) = (reader(), world.login("lisi", "d2", messages: .on))
        let body = String(repeating: "x", count: 40_000)
        for _ in 1...3 { world.send(zs, to: "lisi", body: body) }
        _ = (world.take(first), world.take(second))
        world.takeLast(first)
        #expect(world.take(first) == [.taken(waiting: 2), .messages([body])])
        #expect(world.take(second) == [])
        world.takeLast(second)
        #expect(world.take(second) == [.taken(waiting: 2), .messages([body])])
        world.checkInvariants()
    }
}

/// Messages that were addressed to a device, as XMPP clients address them.
@Suite struct `Messages that prefer a device` {
    private let world = World()
    private let zs: ConnectionID

    init() {
        zs = world.login("zs", "phone")
        _ = world.take(zs)
    }

    private func send(to device: String, _ body: String) {
        world.handle(from: zs) { texts in
            .send(
                account: nil,
                Send(
                    to: .accounts(texts.add(names: [Array("lisi".utf8)])),
                    body: texts.add(Array(body.utf8)),
                    stanza: StanzaParts(
                        kind: .chat, language: texts.add([]),
                        addressed: texts.add(Array(device.utf8)),
                        extra: texts.add([])), expirySeconds: 600))
        }
    }

    @Test func `are sent to it alone until it ends`() {
        let phone = world.login("lisi", "phone", messages: .on)
        let tablet = world.login("lisi", "tablet", messages: .on)
        world.handle(.setAvailability(Availability(priority: -1)), from: phone)
        _ = (world.take(phone), world.take(tablet))
        send(to: "phone", "one")
        send(to: "other", "two")
        #expect(world.take(phone) == [.messages(["one"])])
        #expect(world.take(tablet) == [.messages(["two"])])
        world.checkInvariants()
        world.drop(phone)
        world.pass(milliseconds: 1)
        #expect(world.take(tablet).contains(.messages(["one"])))
        world.checkInvariants()
    }
}

/// What limits senders.
@Suite struct `Limits on senders` {
    @Test func `do not reject more recipients than the burst for ever`() {
        let world = World()
        let zs = world.login("zs", "phone")
        _ = world.take(zs)
        var settings = world.withEngine { $0.settings }
        settings.publishPace = Pace(perSecond: 1, burst: 2)
        world.apply(settings)
        world.send(zs, to: "a", "b", "c", body: "one")
        world.send(zs, to: "a", "b", "c", body: "two")
        #expect(world.take(zs) == [.sent(recipients: 3, reached: nil), .rejected(.rateLimited)])
        world.pass(milliseconds: 2_000)
        world.send(zs, to: "a", "b", "c", body: "three")
        #expect(world.take(zs) == [.sent(recipients: 3, reached: nil)])
    }
}
