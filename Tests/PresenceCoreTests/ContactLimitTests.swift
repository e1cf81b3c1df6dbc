import PresenceCore
import Testing

/// What bounds the requests and the contacts of an account.
@Suite struct `Limits of contacts` {
    private func world(contacts: Int = 1_000, requests: Int = 200) -> World {
        var settings = Settings().withoutPace
        settings.limits.contactsPerAccountMax = contacts
        settings.limits.requestsPerAccountMax = requests
        return World(settings)
    }

    private func ask(_ world: World, _ name: String) -> Seen? {
        let server = world.appServer()
        world.say(server, .subscribe, to: "bob", for: name)
        return world.take(server).last
    }

    @Test func `strangers fill half of the requests, and contacts the rest`() {
        let world = world(requests: 5)
        let server = world.appServer()
        for number in 0..<3 {
            #expect(ask(world, "stranger\(number)") != .rejected(.requestQuota))
        }
        #expect(ask(world, "stranger3") == .rejected(.requestQuota))
        for name in ["friend0", "friend1", "friend2"] {
            world.relate(server, name, .describe(.none), for: "bob")
        }
        #expect(ask(world, "friend0") != .rejected(.requestQuota))
        #expect(ask(world, "friend1") != .rejected(.requestQuota))
        #expect(ask(world, "friend2") == .rejected(.requestQuota))
        // Two of three strangers are left, so there is room for one more.
        world.say(server, .unsubscribed, to: "stranger0", for: "bob")
        #expect(ask(world, "stranger3") != .rejected(.requestQuota))
        #expect(ask(world, "stranger4") == .rejected(.requestQuota))
        world.checkInvariants()
    }

    private func label(_ count: Int, _ groups: Int = 0) throws -> ContactAction {
        let name = [UInt8](repeating: 0x61, count: count)
        let groups = (0..<groups).map { [0x41 + UInt8($0)] + name.dropFirst() }
        return .describe(try #require(ContactLabel(name: name, groups: groups)))
    }

    @Test(arguments: [254, 255, 256, 1_023]) func `labels of every length are kept`(
        count: Int
    ) throws {
        let world = world()
        let bob = world.login("bob", hears: .all)
        func labels() -> [String] {
            world.contacts(bob)
            guard case .contacts(let entries, _, _)? = world.take(bob).last else { return [] }
            return entries.map(\.label)
        }
        for length in [count, 1, count] {
            world.relate(bob, "amy", try label(length))
            #expect(labels() == [String(repeating: "a", count: length)])
            world.checkInvariants()
        }
        world.relate(bob, "amy", try label(count, 2))
        #expect(labels().map { $0.contains("A") && $0.contains("B") } == [true])
        world.checkInvariants()
        world.relate(bob, "amy", .remove)
        #expect(labels().isEmpty)
        world.checkInvariants()
    }

    /// They take memory, and all of them are in one answer.
    @Test func `long labels take of the room of others`() throws {
        let world = world(contacts: 20)
        let server = world.appServer()
        func describe(_ name: String, _ action: ContactAction) -> Bool {
            world.relate(server, name, action, for: "bob")
            return world.take(server).last != .rejected(.contactQuota)
        }
        // 5,100 bytes in all.
        #expect(describe("a", try label(1_023, 3)))
        #expect(!describe("b", try label(1_023)))
        #expect(describe("b", try label(1_000)))
        #expect(!describe("c", try label(10)))
        #expect(describe("c", try label(0)))
        #expect(describe("a", try label(1_023)))
        #expect(describe("c", try label(10)))
        world.checkInvariants()
    }
}
