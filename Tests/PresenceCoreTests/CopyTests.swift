import PresenceCore
import Testing

/// What the other sessions of a sender are sent of what it sends.
@Suite struct `Copies of messages` {
    private let world = World()

    private func other(_ account: String, _ device: String) -> ConnectionID {
        let connection = world.login(account, device, messages: .withCopies)
        _ = world.take(connection)
        return connection
    }

    private func copy(
        _ body: String, to: String..., device: String? = nil, missed: Int = 0
    ) -> Seen {
        .copy(body, to: to, device: device, missed: missed)
    }

    @Test func `go to the other sessions that have asked, when they are durable`() {
        let (phone, pad) = (other("zs", "phone"), other("zs", "pad"))
        let deaf = world.login("zs", "deaf", messages: .on)
        _ = (world.take(deaf), world.take(phone), world.take(pad))
        world.storeWaits = true
        world.send(phone, to: "lisi", "ww", body: "one")
        #expect(world.take(pad) == [])
        world.commit()
        #expect(world.take(pad) == [copy("one", to: "lisi", "ww")])
        #expect(world.take(phone) == [.sent(recipients: 2, reached: nil)])
        world.send(phone, to: "lisi", body: "two", device: "d1")
        world.commit()
        #expect(world.take(pad) == [copy("two", to: "lisi", device: "d1")])
        world.send(phone, to: "lisi", body: "three")
        world.fail()
        #expect(world.take(pad) == [] && world.take(deaf) == [])
        #expect(world.withEngine { $0.messages.copies } == 2)
        world.checkInvariants()
    }

    @Test func `go to all if the session has ended, or an app server has sent`() {
        let (phone, pad) = (other("zs", "phone"), other("zs", "pad"))
        _ = world.take(phone)
        world.storeWaits = true
        world.send(phone, to: "lisi", body: "one")
        world.drop(phone)
        let again = other("zs", "phone")
        world.commit()
        _ = world.take(pad).filter { $0 != copy("one", to: "lisi") }
        #expect(world.take(again) == [copy("one", to: "lisi")])
        let server = world.appServer()
        world.send(server, to: "lisi", body: "two", for: "zs")
        world.commit()
        for session in [again, pad] {
            #expect(world.take(session) == [copy("two", to: "lisi")])
        }
        world.send(server, to: "lisi", body: "three")
        world.commit()
        #expect(world.take(pad) == [])
        world.checkInvariants()
    }

    @Test func `that a session misses are counted in the next`() {
        let (phone, pad, third) = (other("zs", "phone"), other("zs", "pad"), other("zs", "third"))
        _ = (world.take(pad), world.take(third))
        world.missesEvents = [pad]
        world.send(phone, to: "lisi", body: "one")
        world.send(phone, to: "lisi", body: "two")
        #expect(world.take(pad) == [])
        world.missesEvents = []
        world.send(phone, to: "lisi", body: "three")
        world.send(phone, to: "lisi", body: "four")
        #expect(
            world.take(pad) == [copy("three", to: "lisi", missed: 2), copy("four", to: "lisi")])
        #expect(world.take(third).last == copy("four", to: "lisi"))
        #expect(world.withEngine { $0.messages.copiesMissed } == 2)
        #expect(world.withEngine { $0.messages.copies } == 8)
        world.checkInvariants()
    }
}
