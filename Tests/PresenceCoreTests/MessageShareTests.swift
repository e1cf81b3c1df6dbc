import Testing

@testable import PresenceCore

/// One account does not use up what is meant for all.
@Suite struct `Messages have shares` {
    private func world(_ change: (inout Limits) -> Void) -> World {
        var settings = Settings().withoutPace
        change(&settings.limits)
        return World(settings)
    }

    private func send(
        _ world: World, _ sender: ConnectionID, to name: String, body: String = "x"
    ) -> Seen? {
        _ = world.take(sender)
        world.send(sender, to: name, body: body)
        return world.take(sender).last
    }

    private func isSent(_ seen: Seen?) -> Bool {
        if case .sent? = seen { true } else { false }
    }

    /// How many messages in a row are stored.
    private func count(_ world: World, _ sender: ConnectionID, to name: String) -> Int {
        var count = 0
        while isSent(send(world, sender, to: name)) { count += 1 }
        return count
    }

    @Test func `of a box: strangers by sender, contacts beside them, and app servers`() {
        let world = world { $0.messagesPerAccountMax = 100 }
        let (bob, friend, server) = (world.login("bob"), world.login("friend"), world.appServer())
        world.say(bob, .subscribe, to: "friend")
        world.say(friend, .subscribed, to: "bob")
        #expect(count(world, world.login("greedy"), to: "bob") == 25)
        for number in 0..<10 {
            #expect(isSent(send(world, world.login("s\(number)"), to: "bob")))
        }
        world.checkInvariants()
        #expect(count(world, friend, to: "bob") == 40)
        #expect(send(world, friend, to: "bob") == .rejected(.inboxFull))
        #expect(count(world, server, to: "bob") == 25)
        world.checkInvariants()
        // What is discarded is given back.
        world.discard(server, "bob")
        world.checkInvariants()
        #expect(count(world, world.login("greedy", "d2"), to: "bob") == 25)
    }

    @Test func `of all bytes: an account has a part of what is left`() {
        let world = world { $0.messageBytesInAllMax = 1_048_576 }
        let (zs, server) = (world.login("zs", "phone"), world.appServer())
        func leave(_ sender: ConnectionID) -> Int {
            var count = 0
            while isSent(send(world, sender, to: "nobody\(count)")) { count += 1 }
            return count
        }
        #expect(leave(zs) == 113)
        #expect(send(world, zs, to: "other") == .rejected(.senderQuota))
        world.checkInvariants()
        // Many accounts that write to names that nobody has leave room for others and contacts.
        for number in 0..<20 { _ = leave(world.login("hostile\(number)")) }
        world.checkInvariants()
        #expect(isSent(send(world, world.login("honest"), to: "lisi")))
        // They fill what is for accounts by writing to themselves.
        for number in 0..<60 { _ = count(world, world.login("h\(number)"), to: "h\(number)") }
        #expect(count(world, server, to: "bob") == 100)
        let stats = world.withEngine { $0.messages }
        #expect(stats.bytesOfAccounts <= 786_432 && stats.bytesOfStrangers <= 524_288)
        #expect(stats.rejectedOfShare[.sender, default: 0] > 0)
        world.checkInvariants()
    }

    @Test func `by labels use what app servers have, however many strangers there are`() {
        let world = world { $0.messagesPerAccountMax = 12 }
        let server = world.appServer()
        world.setDevice(server, alias: "b", tags: ["news"], device: "phone", for: "bob")
        for number in 0..<10 { _ = send(world, world.login("s\(number)"), to: "bob") }
        #expect(send(world, world.login("late"), to: "bob") == .rejected(.inboxFull))
        func news() -> Seen? {
            _ = world.take(server)
            world.handle(from: server) { texts in
                let tags = Recipients.Tags(any: texts.add(names: ["news"]), all: nil, not: nil)
                return .send(
                    account: nil,
                    Send(to: .tags(tags), body: texts.add("new"), expirySeconds: 60))
            }
            return world.take(server).last
        }
        for _ in 0..<3 { #expect(isSent(news())) }
        #expect(news() == .rejected(.inboxFull))
        world.checkInvariants()
    }

    @Test func `of strangers wait for the default time at most, whomever they are for`() {
        let world = world { $0.messageExpirySecondsDefault = 600 }
        let zs = world.login("zs")
        world.login("lisi")
        for name in ["lisi", "nobody", "zs"] {
            world.handle(from: zs) { texts in
                .send(
                    account: nil,
                    Send(
                        to: .accounts(texts.add(names: [name])), body: texts.add("x"),
                        expirySeconds: 86_400))
            }
        }
        world.pass(seconds: 601)
        let waiting = ["lisi", "nobody", "zs"].map { name in
            world.find(name).map { account in
                world.withEngine { $0.inboxes[account].messages.count }
            }
        }
        #expect(waiting[0] ?? 0 == 0 && waiting[1] ?? 0 == 0 && waiting[2] == 1)
        world.checkInvariants()
    }
}
