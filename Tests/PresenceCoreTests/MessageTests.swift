import PresenceCore
import Testing

@Suite struct `Messages` {
    let world = World()
    let zs: ConnectionID

    init() {
        zs = world.login("zs", "phone")
        _ = world.take(zs)
    }

    private func reader(
        _ account: String, _ device: String = "d1", in world: World? = nil
    ) -> ConnectionID {
        (world ?? self.world).login(account, device, messages: .on)
    }

    @Test func `wait for one who is not there, and come after the login list`() {
        world.send(zs, to: "lisi", body: "one")
        world.send(zs, to: "lisi", body: "two")
        #expect(
            world.take(zs) == Array(repeating: .sent(recipients: 1, reached: nil), count: 2))
        let lisi = reader("lisi")
        #expect(
            world.take(lisi) == [
                .loggedIn(account: "lisi", subscriptions: 0, waiting: 2), .synced(0),
                .messages(["one", "two"]),
            ])
        world.takeLast(lisi)
        #expect(world.take(lisi) == [.taken(waiting: 0)])
        #expect(world.messages.rows.isEmpty && world.messages.bodies.isEmpty)
        world.checkInvariants()
    }

    @Test func `are answered once they are durable, and only then sent`() {
        let lisi = reader("lisi")
        _ = world.take(lisi)
        world.storeWaits = true
        world.send(zs, to: "lisi", body: "one")
        #expect(world.take(zs) == [] && world.take(lisi) == [])
        world.checkInvariants()
        world.commit()
        #expect(world.take(zs) == [.sent(recipients: 1, reached: nil)])
        #expect(world.take(lisi) == [.messages(["one"])])
        world.send(zs, to: "lisi", "wangwu", body: "two")
        world.fail()
        #expect(world.take(zs) == [.rejected(.storeUnavailable)])
        #expect(world.take(lisi) == [])
        #expect(world.find("wangwu") == nil)
        world.checkInvariants()
    }

    @Test func `that nobody takes are sent again to the next session`() {
        world.send(zs, to: "lisi", body: "one")
        let first = reader("lisi")
        #expect(world.take(first).last == .messages(["one"]))
        world.drop(first)
        let second = reader("lisi")
        #expect(world.take(second).last == .messages(["one"]))
        #expect(world.messages.handed[first] == world.messages.handed[second])
        world.checkInvariants()
    }

    @Test func `go to every device, and to none when one has taken them`() {
        let phone = reader("lisi", "phone")
        let tablet = reader("lisi", "tablet")
        _ = (world.take(phone), world.take(tablet))
        world.send(zs, to: "lisi", body: "one")
        #expect(world.take(phone) == [.messages(["one"])])
        #expect(world.take(tablet) == [.messages(["one"])])
        world.takeLast(phone)
        let late = reader("lisi", "late")
        #expect(
            world.take(late) == [
                .loggedIn(account: "lisi", subscriptions: 0, waiting: 0), .synced(0),
            ])
        world.takeLast(tablet)
        #expect(world.take(tablet) == [.taken(waiting: 0)])
        #expect(world.withEngine { $0.messages.taken } == 1)
        world.checkInvariants()
    }

    @Test func `for a device wait for that device`() {
        let tablet = reader("lisi", "tablet")
        _ = world.take(tablet)
        world.send(zs, to: "lisi", body: "for the phone", device: "phone")
        #expect(world.take(tablet) == [])
        let phone = reader("lisi", "phone")
        #expect(world.take(phone).last == .messages(["for the phone"]))
        world.takeLast(phone)
        #expect(world.take(phone) == [.taken(waiting: 0)])
        world.checkInvariants()
    }

    @Test func `are not sent to sessions of negative priority until it rises`() {
        let lisi = reader("lisi")
        world.handle(.setAvailability(Availability(priority: -1)), from: lisi)
        _ = world.take(lisi)
        world.send(zs, to: "lisi", body: "one")
        world.send(zs, to: "lisi", body: "for d1", device: "d1")
        #expect(world.take(lisi) == [.messages(["for d1"])])
        world.handle(.setAvailability(Availability(priority: 0)), from: lisi)
        #expect(world.take(lisi) == [.availabilitySet, .messages(["one"])])
        world.takeLast(lisi)
        #expect(world.take(lisi) == [.taken(waiting: 0)], "in the order in which they were sent")
        world.checkInvariants()
    }

    @Test func `are sent as far as the window has room`() {
        let lisi = reader("lisi")
        _ = world.take(lisi)
        let body = String(repeating: "x", count: 30_000)
        for _ in 0..<5 { world.send(zs, to: "lisi", body: body) }
        #expect(world.messages.handed[lisi]?.count == 2)
        if let first = world.messages.handed[lisi]?.first {
            world.handle(.take(first), from: lisi)
            world.handle(.take(first), from: lisi)
        }
        #expect(world.messages.handed[lisi]?.count == 3, "taken twice makes no more room")
        world.takeLast(lisi)
        #expect(world.take(lisi).last == .messages([body, body]))
        world.takeLast(lisi)
        #expect(world.take(lisi) == [.taken(waiting: 0)])
        world.checkInvariants()
    }

    @Test func `that did not fit are sent though another device has taken them`() {
        let phone = reader("lisi", "phone")
        let tablet = reader("lisi", "tablet")
        let body = String(repeating: "x", count: 40_000)
        for text in [body, body, "small"] { world.send(zs, to: "lisi", body: text) }
        #expect(world.messages.handed[phone]?.count == 1)
        world.takeLast(tablet)
        _ = (world.take(phone), world.take(tablet))
        if let second = world.messages.handed[tablet]?[1] {
            world.handle(.take(second), from: tablet)
        }
        #expect(world.take(phone) == [])
        world.takeLast(phone)
        #expect(world.take(phone) == [.taken(waiting: 2), .messages([body, "small"])])
        world.takeLast(phone)
        #expect(world.take(phone) == [.taken(waiting: 0)])
        #expect(world.messages.rows.isEmpty && world.messages.bodies.isEmpty)
        world.checkInvariants()
    }

    @Test func `larger than the window come one by one`() {
        let lisi = reader("lisi")
        let body = String(repeating: "x", count: 131_072)
        world.send(zs, to: "lisi", body: body)
        world.send(zs, to: "lisi", body: "small")
        #expect(world.messages.handed[lisi]?.count == 1)
        world.takeLast(lisi)
        #expect(world.take(lisi).last == .messages(["small"]))
    }

    @Test func `that another takes while they are read are sent`() {
        world.send(zs, to: "lisi", body: "one")
        world.readsWait = true
        let phone = reader("lisi", "phone")
        let tablet = reader("lisi", "tablet")
        world.read()
        world.takeLast(phone)
        #expect(world.takeStored().contains("take 1 messages"), "for logins to come")
        let late = reader("lisi", "late")
        _ = (world.take(tablet), world.take(late))
        world.failRead()
        world.pass(milliseconds: 1_001)
        world.read()
        #expect(world.take(tablet) == [.messages(["one"])])
        #expect(world.messages.reads.isEmpty && world.take(late) == [])
        #expect(world.messages.rows.isEmpty && world.messages.bodies.isEmpty)
        world.takeLast(tablet)
        #expect(world.take(tablet) == [.taken(waiting: 0)])
        world.checkInvariants()
    }

    @Test func `that another has taken leave the store when the last session ends`() {
        world.send(zs, to: "lisi", body: "one")
        world.readsWait = true
        let phone = reader("lisi", "phone")
        let tablet = reader("lisi", "tablet")
        world.read()
        world.takeLast(phone)
        #expect(world.messages.rows.count == 1 && world.withEngine { $0.messages.owed } == 1)
        world.drop(tablet)
        #expect(world.messages.rows.isEmpty && world.messages.bodies.isEmpty)
        world.read()
        world.checkInvariants()
    }

    @Test func `that a session leaves beyond a box are given up, the oldest first`() {
        var settings = Settings().withoutPace
        settings.limits.messagesPerAccountMax = 2
        let world = World(settings)
        let server = world.appServer()
        let phone = reader("lisi", "phone", in: world)
        let tablet = reader("lisi", "tablet", in: world)
        _ = (world.take(phone), world.take(tablet))
        let body = String(repeating: "x", count: 65_536)
        for text in [body, "two", "three", "four"] {
            world.send(server, to: "lisi", body: text)
            world.takeLast(phone)
        }
        #expect(world.withEngine { $0.messages.missed } == 1)
        #expect(world.messages.rows.count == 2)
        _ = world.take(tablet)
        world.takeLast(tablet)
        #expect(world.take(tablet) == [.taken(waiting: 2), .messages(["three", "four"])])
        world.checkInvariants()
    }

    @Test func `are handed out behind their commit, without a read`() {
        let lisi = reader("lisi")
        _ = world.take(lisi)
        world.readsWait = true
        let fetches = world.withEngine { $0.messages.fetches }
        for text in ["one", "two"] { world.send(zs, to: "lisi", body: text) }
        #expect(world.take(lisi) == [.messages(["one"]), .messages(["two"])])
        #expect(world.withEngine { $0.messages.fetches } == fetches)
        world.checkInvariants()
    }

    @Test func `whose contents cannot be read now are read again`() {
        world.send(zs, to: "lisi", body: "one")
        world.readsWait = true
        let lisi = reader("lisi")
        _ = world.take(lisi)
        world.failRead()
        #expect(world.messages.reads.isEmpty)
        #expect(world.withEngine { $0.messages.fetchFailures } == 1)
        world.pass(milliseconds: 1_001)
        world.read()
        #expect(world.take(lisi) == [.messages(["one"])])
        world.checkInvariants()
    }

    @Test func `whose contents are missing do not hold up others`() {
        world.send(zs, to: "lisi", body: "one")
        world.send(zs, to: "lisi", body: "two")
        world.readsWait = true
        let lisi = reader("lisi")
        if let key = world.messages.rows.keys.min(by: { $0.message < $1.message }) {
            world.messages.lose(key.message)
        }
        _ = world.take(lisi)
        world.read()
        #expect(world.take(lisi) == [.messages(["two"])])
        #expect(world.withEngine { $0.messages.lost } == 1)
        world.checkInvariants()
    }

    @Test func `read for a connection that has ended go nowhere`() {
        world.send(zs, to: "lisi", body: "one")
        world.readsWait = true
        let lisi = reader("lisi")
        world.drop(lisi)
        world.read()
        let second = reader("lisi")
        world.read()
        #expect(world.take(second).last == .messages(["one"]))
        world.checkInvariants()
    }

    @Test func `expire`() {
        world.send(zs, to: "lisi", body: "short", seconds: 60)
        world.send(zs, to: "lisi", body: "long", seconds: 3_600)
        world.pass(seconds: 59)
        world.checkInvariants()
        #expect(world.messages.rows.count == 2)
        world.pass(seconds: 2)
        #expect(world.messages.rows.count == 1)
        let lisi = reader("lisi")
        #expect(world.take(lisi).last == .messages(["long"]))
        world.pass(seconds: 3_600)
        #expect(world.messages.rows.isEmpty)
        world.takeLast(lisi)
        #expect(world.withEngine { $0.messages.taken } == 0)
        #expect(world.withEngine { $0.messages.expired } == 2)
        world.checkInvariants()
    }

    @Test func `of app servers may have no sender, and tell how many were reached`() {
        let server = world.appServer()
        let lisi = reader("lisi")
        _ = world.take(lisi)
        world.send(server, to: "lisi", "nobody", body: "hello")
        #expect(world.take(server) == [.sent(recipients: 2, reached: 1)])
        #expect(world.messages.rows.values.allSatisfy { $0.sender == nil })
        world.send(server, to: "lisi", body: "as zs", for: "zs")
        #expect(world.messages.rows.values.contains { $0.sender != nil })
        world.discard(server, "lisi")
        world.discard(server, "unknown")
        #expect(
            world.take(server) == [
                .sent(recipients: 1, reached: 1), .discarded(2), .discarded(0),
            ])
        world.checkInvariants()
    }

    @Test func `keep the accounts that they are of and for`() {
        world.send(zs, to: "lisi", body: "one")
        world.handle(.logout, from: zs)
        world.pass(seconds: 1)
        #expect(world.find("lisi") != nil && world.find("zs") != nil)
        let server = world.appServer()
        world.discard(server, "lisi")
        #expect(world.find("lisi") == nil)
        world.checkInvariants()
    }

    @Test func `of another account are forbidden to clients, as is to discard`() {
        world.send(zs, to: "lisi", body: "one", for: "wangwu")
        world.discard(zs, "lisi")
        #expect(world.take(zs) == [.rejected(.forbidden), .rejected(.forbidden)])
        world.send(zs, to: "zs", body: "to myself", for: "zs")
        #expect(world.take(zs) == [.sent(recipients: 1, reached: nil)])
    }

    @Test func `are forbidden where the operator has turned them off`() {
        var settings = Settings()
        settings.messages = .off
        let world = World(settings)
        let zs = reader("zs", in: world)
        let server = world.appServer()
        #expect(
            world.take(zs).first == .loggedIn(account: "zs", subscriptions: 0, waiting: nil))
        world.send(zs, to: "lisi", body: "one")
        world.handle(.take(MessageID(number: 1)), from: zs)
        world.discard(server, "lisi")
        #expect(world.take(zs) == [.rejected(.forbidden), .rejected(.forbidden)])
        #expect(world.take(server) == [.rejected(.forbidden)])
    }
}

@Suite struct `Who may write, and how much` {
    @Test func `follows who may see`() {
        let world = World()
        let zs = world.login("zs")
        let lisi = world.login("lisi")
        world.setVisibility(lisi, .approved)
        _ = world.take(zs)
        world.send(zs, to: "lisi", "other", body: "one")
        #expect(world.take(zs) == [.rejected(.notPermitted)])
        #expect(world.messages.rows.isEmpty && world.find("other") == nil)
        world.say(lisi, .subscribe, to: "zs")
        world.say(zs, .subscribed, to: "lisi")
        _ = world.take(zs)
        world.send(zs, to: "lisi", body: "two")
        #expect(world.take(zs) == [.sent(recipients: 1, reached: nil)])
        world.send(lisi, to: "lisi", body: "to myself")
        let server = world.appServer()
        world.send(server, to: "lisi", body: "three")
        #expect(world.messages.rows.count == 3)
        world.checkInvariants()
    }

    @Test func `ends at half a box for strangers`() {
        var settings = Settings().withoutPace
        settings.limits.messagesPerAccountMax = 4
        let world = World(settings)
        let zs = world.login("zs")
        let friend = world.login("friend")
        let lisi = world.login("lisi")
        world.say(lisi, .subscribe, to: "friend")
        world.say(friend, .subscribed, to: "lisi")
        for connection in [zs, friend, lisi] { _ = world.take(connection) }
        for _ in 0..<3 { world.send(zs, to: "lisi", body: "stranger") }
        for _ in 0..<3 { world.send(friend, to: "lisi", body: "friend") }
        let sent = Seen.sent(recipients: 1, reached: nil)
        // One stranger has half of that.
        #expect(world.take(zs) == [sent, .rejected(.inboxFull), .rejected(.inboxFull)])
        #expect(world.take(friend) == [sent, sent, .rejected(.inboxFull)])
        world.discard(world.appServer(), "lisi")
        world.send(zs, to: "lisi", body: "stranger")
        #expect(world.take(zs) == [sent])
        world.checkInvariants()
    }

    @Test func `counts what is still to be stored`() {
        var settings = Settings().withoutPace
        settings.limits.messagesPerAccountMax = 2
        settings.limits.messagesPerSenderMax = 3
        let world = World(settings)
        world.storeWaits = true
        let server = world.appServer()
        let others = (0..<3).map { world.login("zs", "d\($0)") }
        for connection in others { _ = world.take(connection) }
        world.send(server, to: "lisi", body: "one")
        world.send(world.appServer(), to: "lisi", body: "two")
        world.send(others[0], to: "lisi", body: "three")
        #expect(world.take(others[0]) == [.rejected(.inboxFull)])
        world.send(others[0], to: "a", "b", body: "three")
        world.send(others[1], to: "c", "d", body: "three")
        #expect(world.take(others[1]) == [.rejected(.senderQuota)])
        while world.waiting > 0 { world.fail() }
        world.checkInvariants()
        world.send(others[2], to: "lisi", body: "three")
        world.commit()
        #expect(world.take(others[2]) == [.sent(recipients: 1, reached: nil)])
        world.checkInvariants()
    }

    @Test func `has a pace, in which each recipient counts`() {
        var settings = Settings()
        settings.publishPace = Pace(perSecond: 1, burst: 4)
        let world = World(settings)
        let zs = world.login("zs")
        _ = world.take(zs)
        world.send(zs, to: "a", "b", "c", body: "one")
        world.send(zs, to: "a", "b", body: "two")
        world.send(zs, to: "a", body: "three")
        let sent3 = Seen.sent(recipients: 3, reached: nil)
        #expect(
            world.take(zs) == [
                sent3, .rejected(.rateLimited), .sent(recipients: 1, reached: nil),
            ])
        world.checkInvariants()
    }

    @Test func `has a pace of all strangers together to each recipient`() {
        var settings = Settings()
        settings.publishPace = nil
        settings.strangerPace = Pace(perSecond: 2, burst: 3)
        let world = World(settings)
        let strangers = [world.login("x"), world.login("y"), world.login("v")]
        let (friend, server) = (world.login("friend"), world.appServer())
        let late = world.login("late")
        let lisi = world.login("lisi", messages: .on)
        world.say(lisi, .subscribe, to: "friend")
        world.say(friend, .subscribed, to: "lisi")
        for number in 0..<4 {
            _ = world.take(strangers[number % 3])
            world.send(strangers[number % 3], to: "z", "lisi", body: "one")
            // It takes at once, which makes no difference.
            world.takeLast(lisi)
        }
        #expect(world.take(strangers[0]) == [.rejected(.rateLimited)])
        #expect(world.messages.rows.count == 3, "for nobody")
        _ = [friend, server, lisi].map { world.take($0) }
        for connection in [friend, server, lisi] {
            world.send(connection, to: "lisi", body: "two")
        }
        world.send(server, to: "lisi", body: "two", for: "x")
        #expect(world.take(friend) == [.sent(recipients: 1, reached: nil)])
        #expect(world.take(lisi).contains(.sent(recipients: 1, reached: nil)))
        #expect(world.take(server) == Array(repeating: .sent(recipients: 1, reached: 1), count: 2))
        world.pass(milliseconds: 500)
        _ = (world.take(strangers[0]), world.take(late))
        // What is given back is for those first that have the least.
        world.send(strangers[0], to: "lisi", body: "three")
        #expect(world.take(strangers[0]) == [.rejected(.rateLimited)])
        for _ in 0..<2 { world.send(late, to: "lisi", body: "three") }
        #expect(
            world.take(late) == [.sent(recipients: 1, reached: nil), .rejected(.rateLimited)])
        world.checkInvariants()
    }

    @Test func `counts nothing of what is rejected for another reason`() {
        var settings = Settings()
        settings.strangerPace = Pace(perSecond: 1, burst: 1)
        settings.limits.messageBytesInAllMax = 16_384
        let world = World(settings)
        let zs = world.login("zs")
        world.setVisibility(world.login("shy"), .hidden)
        _ = world.take(zs)
        world.send(zs, to: "lisi", "shy", body: "one")
        world.send(zs, to: "lisi", body: String(repeating: "x", count: 2_000))
        world.send(zs, to: "lisi", body: "two")
        #expect(
            world.take(zs) == [
                .rejected(.notPermitted), .rejected(.overloaded),
                .sent(recipients: 1, reached: nil),
            ])
    }

    @Test func `has a limit in bytes for each box, each sender and all`() {
        let body = String(repeating: "x", count: 1_000)
        func rejection(_ change: (inout Limits) -> Void) -> Seen? {
            var settings = Settings().withoutPace
            change(&settings.limits)
            let world = World(settings)
            let zs = world.login("zs")
            world.send(zs, to: "zs", body: body)
            _ = world.take(zs)
            world.send(zs, to: "zs", body: body)
            world.checkInvariants()
            return world.take(zs).first
        }
        #expect(rejection { $0.messageBytesPerAccountMax = 1_999 } == .rejected(.inboxFull))
        #expect(rejection { $0.messageBytesPerSenderMax = 1_999 } == .rejected(.senderQuota))
        #expect(rejection { $0.messageBytesInAllMax = 1_999 } == .rejected(.overloaded))
        // Its share is an eighth of what is left of three quarters.
        #expect(rejection { $0.messageBytesInAllMax = 22_660 } == .rejected(.senderQuota))
        #expect(
            rejection { $0.messageBytesInAllMax = 22_668 } == .sent(recipients: 1, reached: nil))
    }
}
