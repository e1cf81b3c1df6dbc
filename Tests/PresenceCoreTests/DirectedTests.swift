import Containers
import Testing

@testable import PresenceCore

/// Presence for one address (RFC 6121, section 4.6).
@Suite struct `Directed presence` {
    var world = World()

    private func bind(_ account: String, _ resource: String = "r") -> ConnectionID {
        let connection = world.connect()
        world.bind(account, resource, on: connection)
        _ = world.take(connection)
        return connection
    }

    /// A client that is available.
    private func appear(_ account: String, _ resource: String = "r") -> ConnectionID {
        let connection = bind(account, resource)
        world.handle(.show(Availability()), from: connection)
        _ = world.take(connection)
        return connection
    }

    /// Alice's presences are for bob, who sees nobody else.
    private func befriend(_ alice: ConnectionID, _ bob: ConnectionID) {
        world.say(bob, .subscribe, to: "alice")
        world.say(alice, .subscribed, to: "bob")
        for connection in [alice, bob] { _ = world.take(connection) }
    }

    /// The presences that were addressed to it.
    private func directed(_ connection: ConnectionID) -> [Seen] {
        world.take(connection).filter { if case .directed = $0 { true } else { false } }
    }

    private let available = Seen.directed("alice/r", .available, "")
    private let gone = Seen.directed("alice/r", .unavailable, "")

    // MARK: Who receives it

    @Test func `goes to all clients of an account that are available`() {
        let alice = appear("alice")
        let (phone, laptop) = (appear("bob", "phone"), appear("bob", "laptop"))
        let hidden = bind("bob", "hidden")
        let native = world.login("bob", "native")
        _ = world.take(native)
        world.direct(alice, "bob", Availability(show: .away, text: Array("brb".utf8)))
        let presence = Seen.directed("alice/r", .available, "(away 0 brb)")
        #expect(directed(phone) == [presence] && directed(laptop) == [presence])
        #expect(directed(hidden).isEmpty && directed(native).isEmpty)
        #expect(world.take(alice) == [.done])
        world.checkInvariants()
    }

    @Test func `goes to the device that is named, available or not`() {
        let alice = appear("alice")
        let (phone, hidden) = (appear("bob", "phone"), bind("bob", "hidden"))
        world.direct(alice, "bob/hidden")
        #expect(directed(hidden) == [available])
        #expect(directed(phone).isEmpty)
    }

    @Test func `shows nothing of who is there`() {
        let alice = appear("alice")
        _ = appear("bob")
        _ = world.login("carol", "native")
        for address in ["bob", "bob/other", "carol", "carol/native", "nobody"] {
            world.direct(alice, address)
            #expect(world.take(alice) == [.done], "\(address)")
            world.withdraw(alice, address)
            #expect(world.take(alice) == [.done], "\(address)")
        }
        world.checkInvariants()
    }

    @Test func `is for clients of XMPP to send`() {
        let native = world.login("alice")
        _ = world.take(native)
        world.direct(native, "bob")
        #expect(world.take(native) == [.rejected(.forbidden)])
    }

    @Test func `asks for no consent, and not for the sender's visibility`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        let server = world.appServer()
        world.setVisibility(server, .hidden, for: "alice")
        world.setVisibility(server, .hidden, for: "bob")
        world.direct(alice, "bob")
        #expect(directed(bob) == [available])
        world.drop(alice)
        world.pass(seconds: 10)
        #expect(directed(bob) == [gone])
    }

    // MARK: How it ends

    @Test func `is withdrawn when the sender logs out`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.handle(.logout, from: alice)
        #expect(directed(bob) == [available, gone])
        world.checkInvariants()
    }

    @Test func `is withdrawn with the farewell when the sender hides, and then forgotten`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.handle(.hide(farewell: Availability(text: Array("bye".utf8))), from: alice)
        #expect(
            directed(bob) == [available, .directed("alice/r", .unavailable, "(available 0 bye)")])
        world.handle(.logout, from: alice)
        #expect(directed(bob).isEmpty)
    }

    @Test func `is withdrawn when the sender is kicked`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.kick(world.appServer(), "alice")
        #expect(directed(bob) == [available, gone])
        world.checkInvariants()
    }

    @Test func `ends with the grace, and not before`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.drop(alice)
        world.pass(seconds: 4)
        #expect(directed(bob) == [available])
        world.pass(seconds: 2)
        #expect(directed(bob) == [gone])
        world.checkInvariants()
    }

    @Test func `outlives a connection that comes back, and ends with the session`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.drop(alice)
        let again = appear("alice")
        world.pass(seconds: 60)
        #expect(directed(bob) == [available])
        world.handle(.logout, from: again)
        #expect(directed(bob) == [gone])
    }

    @Test func `ends when a connection comes back and does not show itself`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.drop(alice)
        _ = bind("alice")
        world.pass(seconds: 60)
        #expect(directed(bob) == [available, gone])
        world.checkInvariants()
    }

    @Test func `stays where a connection that came back has presented itself`() {
        let (alice, bob, carol) = (appear("alice"), appear("bob"), appear("carol"))
        for account in ["bob", "carol"] { world.direct(alice, account) }
        world.drop(alice)
        let again = bind("alice")
        world.direct(again, "bob")
        world.pass(seconds: 60)
        #expect(directed(bob) == [available, available])
        #expect(directed(carol) == [available, gone])
        world.checkInvariants()
        world.handle(.logout, from: again)
        #expect(directed(bob) == [gone])
        #expect(directed(carol).isEmpty)
        #expect(world.withEngine { $0.directed.isEmpty })
    }

    @Test func `stays where a connection that came back has addressed the device`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.drop(alice)
        let again = bind("alice")
        world.direct(again, "bob/r")
        world.pass(seconds: 60)
        #expect(directed(bob) == [available, available])
        world.handle(.logout, from: again)
        #expect(directed(bob) == [gone])
    }

    @Test(arguments: [true, false])
    func `of a client that is not available has no grace`(comesBack: Bool) {
        let (alice, bob) = (bind("alice"), appear("bob"))
        world.direct(alice, "bob")
        if comesBack { _ = bind("alice") } else { world.drop(alice) }
        #expect(directed(bob) == [available, gone])
        world.checkInvariants()
    }

    @Test func `of a client that is not available ends when it says that it is not`() {
        let (alice, bob) = (bind("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.handle(.hide(farewell: Availability()), from: alice)
        #expect(directed(bob) == [available, gone])
    }

    @Test func `ends when a native client takes the device over`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        _ = world.login("alice", "r")
        #expect(directed(bob) == [available, gone])
        world.checkInvariants()
    }

    @Test func `is withdrawn by the sender, once`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        world.withdraw(alice, "bob", Availability(text: Array("bye".utf8)))
        #expect(
            directed(bob) == [available, .directed("alice/r", .unavailable, "(available 0 bye)")])
        world.handle(.logout, from: alice)
        #expect(directed(bob).isEmpty)
    }

    @Test func `is withdrawn once from a client with several addresses`() {
        let (alice, bob) = (appear("alice"), appear("bob", "phone"))
        for address in ["bob", "bob/phone", "bob/other"] { world.direct(alice, address) }
        #expect(directed(bob) == [available, available])
        world.handle(.logout, from: alice)
        #expect(directed(bob) == [gone])
    }

    // MARK: Subscribers

    @Test(arguments: [true, false])
    func `ends for subscribers with the event alone`(logsOut: Bool) {
        let (alice, bob) = (appear("alice"), appear("bob"))
        befriend(alice, bob)
        world.direct(alice, "bob", Availability(show: .chat))
        #expect(directed(bob) == [.directed("alice/r", .available, "(chat 0 )")])
        world.handle(logsOut ? .logout : .hide(farewell: Availability()), from: alice)
        let told = world.take(bob)
        #expect(told.count == 1)
        guard case .event(let event)? = told.first else {
            Issue.record("\(told)")
            return
        }
        #expect(event.short == "alice 2 logout []")
    }

    @Test func `ends for subscribers that do not see the sender, too`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        befriend(alice, bob)
        world.setVisibility(world.appServer(), .hidden, for: "alice")
        _ = world.take(bob)
        world.direct(alice, "bob")
        world.handle(.logout, from: alice)
        #expect(world.take(bob) == [available, gone])
    }

    /// The list will say that alice is offline, and not which device has gone.
    @Test func `ends for subscribers whose list has not come so far`() {
        var settings = Settings()
        settings.limits.statesPerFrameMax = 1
        let test = Self(world: World(settings))
        let (carol, alice, bob) = (
            test.appear("carol"), test.appear("alice"), test.appear("bob")
        )
        let world = test.world
        world.say(bob, .subscribe, to: "carol")
        world.say(carol, .subscribed, to: "bob")
        test.befriend(alice, bob)
        world.handle(.hide(farewell: Availability()), from: bob)
        world.listsWait = true
        world.handle(.show(Availability()), from: bob)
        world.direct(alice, "bob")
        world.handle(.logout, from: alice)
        #expect(test.directed(bob) == [available, gone])
        world.continueLists()
        world.checkInvariants()
    }

    /// RFC 6121, section 4.6.3: it is delivered, and later broadcasts are as before.
    @Test func `says to single subscribers that the device is gone`() {
        let (alice, bob, stranger) = (appear("alice"), appear("bob"), appear("carol"))
        let hidden = bind("bob", "hidden")
        befriend(alice, bob)
        _ = world.take(hidden)
        let bye = Availability(text: Array("bye".utf8))
        for address in ["bob", "bob/hidden", "carol"] { world.withdraw(alice, address, bye) }
        #expect(
            directed(bob)
                == [.directed("alice/r", .unavailableToSubscribers, "(available 0 bye)")])
        // Their connections know whether they were sent that it is there.
        let others = Seen.directed("alice/r", .unavailable, "(available 0 bye)")
        #expect(directed(hidden) == [others])
        #expect(directed(stranger) == [others])
        world.handle(.show(Availability(show: .away)), from: alice)
        #expect(world.events(bob).map(\.short) == [#"alice 1 changed ["xmpp:r(away 0 )"]"#])
        world.checkInvariants()
    }

    @Test func `says to the own clients that the device is gone`() {
        let (alice, tablet) = (appear("alice"), appear("alice", "tablet"))
        _ = world.take(tablet)
        world.withdraw(alice, "alice/tablet")
        #expect(directed(tablet) == [.directed("alice/r", .unavailableToSubscribers, "")])
    }

    /// What subscribers show may be another presence than the last one for all of them.
    @Test(arguments: [true, false])
    func `has the next presence for subscribers sent, if it is as before, too`(isAway: Bool) {
        let availability = Availability(show: isAway ? .away : .available)
        let (alice, bob, native) = (appear("alice"), appear("bob"), world.login("dora"))
        befriend(alice, bob)
        world.subscribe(native, ["alice"])
        world.handle(.show(availability), from: alice)
        _ = (world.take(bob), world.take(native))
        world.withdraw(alice, "bob")
        _ = world.take(bob)
        for _ in 1...2 { world.handle(.show(availability), from: alice) }
        let device = isAway ? "xmpp:r(away 0 )" : "xmpp:r"
        for subscriber in [bob, native] {
            let told = world.events(subscriber).map(\.short)
            #expect(told == [#"alice 1 changed ["\#(device)"]"#])
        }
    }

    @Test func `has the first presence after a return sent, if it is as before, too`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        befriend(alice, bob)
        world.withdraw(alice, "bob")
        world.drop(alice)
        _ = world.take(bob)
        let again = bind("alice")
        world.handle(.show(Availability()), from: again)
        #expect(world.events(bob).map(\.short) == [#"alice 1 changed ["xmpp:r"]"#])
        world.handle(.logout, from: again)
        #expect(world.withEngine { $0.directed.isEmpty })
    }

    @Test func `changes nothing for strangers, so the same is not sent again`() {
        let (alice, bob, carol) = (appear("alice"), appear("bob"), appear("carol"))
        befriend(alice, bob)
        world.direct(alice, "carol")
        _ = (world.take(bob), world.take(carol))
        world.handle(.show(Availability()), from: alice)
        #expect(world.events(bob).isEmpty)
        world.handle(.logout, from: alice)
        #expect(world.withEngine { $0.directed.isEmpty })
    }

    @Test func `ends for the own clients with the event alone`() {
        let (alice, tablet) = (appear("alice"), appear("alice", "tablet"))
        _ = world.take(tablet)
        world.direct(alice, "alice")
        #expect(directed(tablet) == [available])
        #expect(directed(alice) == [available])
        world.handle(.logout, from: alice)
        #expect(directed(tablet).isEmpty)
        world.checkInvariants()
    }

    @Test func `lets nobody receive what follows`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        world.direct(alice, "bob")
        _ = world.take(bob)
        world.handle(.show(Availability(show: .dnd)), from: alice)
        world.publish(alice, 10_001)
        world.probe(bob, "alice")
        #expect(world.events(bob).isEmpty)
    }

    @Test(arguments: [RelayedKind.question, .message], [Visibility.approved, .hidden])
    func `lets its receiver ask the device, and write to it`(
        kind: RelayedKind, visibility: Visibility
    ) {
        let (alice, bob) = (appear("alice"), appear("bob"))
        func mayRelay() -> Bool {
            world.withEngine {
                try? $0.relayTarget(
                    of: Array("alice".utf8), device: Array("r".utf8), kind, from: bob)
            } != nil
        }
        #expect(mayRelay())
        world.setVisibility(world.appServer(), visibility, for: "alice")
        #expect(!mayRelay())
        world.direct(alice, "bob/r")
        #expect(mayRelay())
        world.withdraw(alice, "bob/r")
        #expect(!mayRelay())
    }

    // MARK: Limits

    @Test func `has so many addresses at a time, whether or not they exist`() {
        let alice = appear("alice")
        let max = Limits.directedAddressesMax
        for number in 0..<max { world.direct(alice, "nobody\(number)") }
        #expect(world.take(alice) == Array(repeating: .done, count: max))
        world.direct(alice, "one more")
        #expect(world.take(alice) == [.rejected(.directedQuota)])
        // Those that it has had already.
        world.direct(alice, "nobody7")
        #expect(world.take(alice) == [.done])
        world.withdraw(alice, "nobody7")
        world.direct(alice, "one more")
        #expect(world.take(alice) == [.done, .done])
        world.checkInvariants()
        world.handle(.logout, from: alice)
        world.checkInvariants()
        #expect(world.withEngine { $0.names.count } == 1)
    }

    @Test func `has the pace of changes of presence, but its end has none`() {
        let (alice, bob) = (appear("alice"), appear("bob"))
        var seen: [Seen] = []
        while seen.last != .rejected(.rateLimited), seen.count < 1_000 {
            world.direct(alice, "bob")
            seen += world.take(alice)
        }
        #expect(seen.last == .rejected(.rateLimited))
        world.withdraw(alice, "bob")
        #expect(world.take(alice) == [.done])
        #expect(directed(bob).last == gone)
        world.withdraw(alice, "bob")
        #expect(world.take(alice) == [.rejected(.rateLimited)])
    }

    @Test func `leaves nothing behind`() {
        var bytes: [Int] = []
        for _ in 1...20 {
            let alice = appear("alice")
            for number in 0..<500 { world.direct(alice, "account\(number)/device") }
            world.handle(.logout, from: alice)
            world.pass(seconds: 60)
            bytes.append(world.withEngine { $0.strings.bytesReserved })
        }
        #expect(bytes.allSatisfy { $0 == bytes[0] }, "\(bytes)")
        #expect(world.withEngine { $0.directed.isEmpty })
    }
}
