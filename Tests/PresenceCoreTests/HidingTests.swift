import PresenceCore
import Testing

/// Sessions that are connected and not shown (RFC 6121, section 4).
@Suite struct `Sessions that begin hidden` {
    let world = World()

    /// Alice and bob see each other by approval; bob is watched by a native session of alice.
    func befriend() -> ConnectionID {
        let alice = world.login("alice", hears: .all)
        let server = world.appServer()
        world.say(alice, .subscribe, to: "bob")
        world.say(server, .subscribed, to: "alice", for: "bob")
        world.say(server, .subscribe, to: "alice", for: "bob")
        world.say(alice, .subscribed, to: "bob")
        for connection in [alice, server] { _ = world.take(connection) }
        return alice
    }

    func bind(_ account: String, _ resource: String = "r") -> ConnectionID {
        let connection = world.connect()
        world.bind(account, resource, on: connection)
        return connection
    }

    /// A device of alice and devices of bob, all shown; alice sees bob by approval.
    func showSeen(_ resources: String...) -> (alice: ConnectionID, bobs: [ConnectionID]) {
        let server = world.appServer()
        world.say(server, .subscribe, to: "bob", for: "alice")
        world.say(server, .subscribed, to: "alice", for: "bob")
        let alice = bind("alice", "a")
        let bobs = resources.map { bind("bob", $0) }
        for connection in [alice] + bobs {
            world.handle(.show(Availability()), from: connection)
        }
        return (alice, bobs)
    }

    func state(of account: String) -> String {
        let server = world.appServer()
        world.query(server, [account])
        guard case .queried(let states)? = world.take(server).last else { return "" }
        return states.map(\.short).joined()
    }

    @Test func `nobody sees, and they are sent nothing`() {
        let alice = befriend()
        let bob = bind("bob")
        _ = world.take(bob)
        #expect(world.take(alice).isEmpty)
        #expect(state(of: "bob") == "bob 0 sync []")
        world.publish(alice, 10_001)
        #expect(world.take(bob).isEmpty)
        world.drain(bob)
        #expect(world.take(bob).isEmpty && world.isCaughtUp(bob))
        world.checkInvariants()
        world.drop(bob)
        #expect(world.events(alice).isEmpty)
        #expect(world.stats.sessions == 1)
        world.checkInvariants()
    }

    @Test func `show themselves: others see a login, and they get their list`() {
        let alice = befriend()
        let bob = bind("bob")
        _ = world.take(bob)
        world.handle(.show(Availability(show: .away, priority: 5)), from: bob)
        #expect(world.events(alice).map(\.short) == ["bob 1 login [\"xmpp:r(away 5 )\"]"])
        let seen = world.take(bob)
        #expect(seen.first == .shown)
        #expect(
            seen.states.map(\.short) == [
                "bob 1 sync [\"xmpp:r(away 5 )\"]", "alice 1 sync [\"ios:d1\"]",
            ])
        #expect(seen.last == .synced(1))
        #expect(world.takeStored().contains("session bob r"))
        world.checkInvariants()
    }

    @Test func `hide again: others see a logout, and they stay connected`() {
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        _ = world.events(alice)
        _ = world.takeStored()
        world.handle(.hide(farewell: Availability()), from: bob)
        #expect(world.events(alice).map(\.short) == ["bob 2 logout []"])
        #expect(world.isOpen(bob))
        #expect(world.takeStored() == ["remove session bob r", "account bob 2"])
        world.checkInvariants()
        world.handle(.show(Availability()), from: bob)
        #expect(world.events(alice).map(\.short) == ["bob 1 login [\"xmpp:r\"]"])
        world.handle(.logout, from: bob)
        #expect(world.events(alice).map(\.short) == ["bob 2 logout []"])
        #expect(!world.isOpen(bob))
        world.checkInvariants()
    }

    @Test func `a quick return with the same presence is no event`() {
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability(show: .dnd)), from: bob)
        _ = world.events(alice)
        world.drop(bob)
        world.pass(seconds: 2)
        let again = bind("bob")
        world.pass(seconds: 4)
        #expect(world.events(alice).isEmpty)
        world.checkInvariants()
        _ = world.take(again)
        world.handle(.show(Availability(show: .dnd)), from: again)
        #expect(world.events(alice).isEmpty)
        #expect(world.take(again).contains(.synced(1)))
        world.pass(seconds: 60)
        #expect(world.events(alice).isEmpty)
        world.checkInvariants()
    }

    @Test func `a return with another presence is a change`() {
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability(show: .dnd)), from: bob)
        _ = world.events(alice)
        let again = bind("bob")
        #expect(world.take(bob).last == .closed(.replaced))
        world.handle(.show(Availability(show: .chat)), from: again)
        #expect(world.events(alice).map(\.short) == ["bob 1 changed [\"xmpp:r(chat 0 )\"]"])
        world.checkInvariants()
    }

    @Test func `a return that does not show itself ends as a disconnect, and stays connected`() {
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        _ = world.events(alice)
        let again = bind("bob")
        world.pass(seconds: 6)
        #expect(world.events(alice).map(\.short) == ["bob 3 disconnect []"])
        #expect(world.isOpen(again))
        world.checkInvariants()
        world.handle(.show(Availability()), from: again)
        #expect(world.events(alice).map(\.short) == ["bob 1 login [\"xmpp:r\"]"])
        world.checkInvariants()
    }

    @Test func `a return whose connection is lost again has the whole grace`() {
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        _ = world.events(alice)
        world.drop(bob)
        world.pass(seconds: 4)
        let again = bind("bob")
        world.pass(seconds: 4)
        world.drop(again)
        world.pass(seconds: 4)
        #expect(world.events(alice).isEmpty)
        world.pass(seconds: 2)
        #expect(world.events(alice).map(\.short) == ["bob 3 disconnect []"])
        world.checkInvariants()
    }

    @Test(arguments: [true, false])
    func `a device that connects again and again is not seen for ever`(isLost: Bool) {
        let alice = befriend()
        var bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        _ = world.events(alice)
        // The last time that it counts is after 12 s.
        for _ in 0..<4 {
            world.pass(seconds: 4)
            if isLost { world.drop(bob) }
            bob = bind("bob")
            world.checkInvariants()
        }
        #expect(world.events(alice).isEmpty)
        world.pass(seconds: 2)
        #expect(world.events(alice).map(\.short) == ["bob 3 disconnect []"])
        #expect(world.isOpen(bob))
        world.handle(.show(Availability()), from: bob)
        #expect(world.events(alice).map(\.short) == ["bob 1 login [\"xmpp:r\"]"])
        // From the beginning.
        world.drop(bob)
        world.pass(seconds: 4)
        bob = bind("bob")
        world.pass(seconds: 4)
        #expect(world.events(alice).isEmpty)
        world.checkInvariants()
    }

    @Test func `are sent the requests that wait, once they show themselves`() {
        let alice = world.login("alice", hears: .all)
        world.say(alice, .subscribe, to: "bob", text: "hello")
        for _ in 0..<2 {
            let bob = bind("bob")
            _ = world.take(bob)
            world.handle(.show(Availability()), from: bob)
            let requests = world.take(bob).compactMap { seen -> ContactLine? in
                if case .contact(let line, .subscribe) = seen { line } else { nil }
            }
            #expect(requests.map(\.name) == ["alice"] && requests.first?.request == "hello")
            world.handle(.logout, from: bob)
        }
        world.checkInvariants()
    }

    @Test func `hear of changes of the list once they have asked for it`() {
        let alice = befriend()
        let bob = bind("bob")
        _ = world.take(bob)
        world.relate(
            alice, "bob", .describe(ContactLabel(name: Array("B".utf8), groups: []) ?? .none))
        world.say(world.appServer(), .unsubscribed, to: "alice", for: "bob")
        #expect(world.take(bob).isEmpty)
        world.contacts(bob)
        _ = world.take(bob)
        world.say(world.appServer(), .subscribed, to: "alice", for: "bob")
        #expect(world.take(bob).count == 1)
        world.checkInvariants()
    }

    @Test func `resources of an account see each other`() {
        let first = bind("bob", "one")
        world.handle(.show(Availability()), from: first)
        _ = world.take(first)
        let second = bind("bob", "two")
        world.handle(.show(Availability(show: .away)), from: second)
        #expect(
            world.events(first).map(\.short) == [
                "bob 1 login [\"xmpp:one\", \"xmpp:two(away 0 )\"]"
            ])
        _ = world.take(second)
        world.drop(first)
        world.pass(seconds: 6)
        #expect(
            world.events(second).map(\.short) == ["bob 3 disconnect [\"xmpp:two(away 0 )\"]"])
        world.checkInvariants()
    }

    @Test func `can be kicked and count against the quota`() {
        var settings = Settings()
        settings.limits.sessionsPerAccountMax = 1
        let world = World(settings)
        let bob = world.connect()
        world.bind("bob", "r", on: bob)
        let native = world.connect()
        world.login("bob", "s", on: native)
        #expect(world.take(native) == [.rejected(.sessionQuota)])
        let server = world.appServer()
        world.kick(server, "bob")
        #expect(world.take(server) == [.kicked(1)])
        #expect(world.take(bob).last == .closed(.kicked(reason: nil)))
        #expect(world.stats.sessions == 0)
        world.checkInvariants()
    }

    @Test func `a probe tells the state of who may be seen, and nothing else`() {
        _ = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        _ = world.take(bob)
        world.probe(bob, "alice")
        #expect(world.take(bob).states.map(\.short) == ["alice 1 sync [\"ios:d1\"]"])
        world.login("carol")
        world.probe(bob, "carol")
        world.probe(bob, "unknown")
        #expect(world.take(bob) == [.done, .done])
    }

    @Test func `a restart makes no contact flap`() {
        let world = World()
        world.withEngine { engine in
            let bob = engine.restoreName(Array("bob".utf8).span)
            engine.restoreSession(
                of: bob, on: Array("r".utf8), .xmpp, reach: .connection, pushUntil: nil,
                session: SessionID(ordinal: 1), loggedIn: world.now.wall, address: [],
                availability: Availability(show: .away), at: world.now)
            engine.beginReturns(at: world.now)
        }
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        _ = world.take(alice)
        let again = world.connect()
        world.bind("bob", "r", on: again)
        world.handle(.show(Availability(show: .away)), from: again)
        world.pass(seconds: 120)
        #expect(world.events(alice).isEmpty)
        world.checkInvariants()
    }

    @Test func `a session that did not keep up is told which devices went`() {
        let (alice, bobs) = showSeen("one", "two")
        _ = world.take(alice)
        world.missesEvents = [alice]
        world.handle(.logout, from: bobs[0])
        // Neither one that it never knew nor one that is back.
        let third = bind("bob", "three")
        world.handle(.show(Availability()), from: third)
        world.handle(.logout, from: third)
        world.handle(.logout, from: bobs[1])
        world.handle(.show(Availability()), from: bind("bob", "two"))
        world.missesEvents = []
        world.drain(alice)
        let states = world.take(alice).states
        #expect(states.map(\.withdrawn) == [["xmpp:one"], nil])
        #expect(states.last?.short == "bob 1 sync [\"xmpp:two\"]")
        world.checkInvariants()
    }

    @Test func `since when a contact is offline is for those who see it`() {
        _ = befriend()
        let bob = bind("bob")
        func lastSeen(_ account: String) -> Seen? {
            world.handle(from: bob) { .lastSeen($0.add(account)) }
            return world.take(bob).last
        }
        _ = world.take(bob)
        #expect(lastSeen("alice") == .lastSeen(nil))
        #expect(lastSeen("carol") == .rejected(.forbidden))
        let server = world.appServer()
        world.kick(server, "alice")
        let ended = World.start + Int64(world.elapsed)
        world.pass(seconds: 9)
        #expect(lastSeen("alice") == .lastSeen(ended))
        world.setVisibility(server, .hidden, for: "alice")
        #expect(lastSeen("alice") == .rejected(.forbidden))
    }

    @Test func `stanzas are relayed to the device that is named, shown or not`() {
        let (alice, bob) = (bind("alice", "a"), bind("bob", "b"))
        let native = world.login("carol", "c")
        func relay(_ account: String, _ device: String, from: ConnectionID) -> ConnectionID? {
            world.withEngine {
                try? $0.relayTarget(
                    of: Array(account.utf8), device: Array(device.utf8), .question,
                    from: from
                ).connection
            }
        }
        #expect(relay("bob", "b", from: alice) == bob)
        #expect(relay("bob", "other", from: alice) == nil)
        #expect(relay("carol", "c", from: alice) == nil)
        #expect(relay("nobody", "c", from: alice) == nil)
        #expect(relay("bob", "b", from: world.connect()) == nil)
        world.setVisibility(world.appServer(), .hidden, for: "bob")
        #expect(relay("bob", "b", from: alice) == nil)
        world.setVisibility(world.appServer(), nil, for: "bob")
        world.drop(bob)
        #expect(relay("bob", "b", from: alice) == nil)
        _ = native
    }

    @Test func `what is missed while hidden does not deafen a session that shows itself`() {
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        world.publish(alice, 10_001)
        world.handle(.hide(farewell: Availability()), from: bob)
        world.missLast(bob)
        world.handle(.show(Availability()), from: bob)
        world.drain(bob)
        _ = world.take(bob)
        world.publish(alice, 10_002)
        #expect(world.events(bob).map(\.value) == [10_002])
        world.checkInvariants()
    }

    @Test func `a session that did not keep up is told that the sight of a contact has ended`() {
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        _ = world.take(bob)
        world.missesEvents = [bob]
        world.publish(alice, 10_001)
        world.say(alice, .unsubscribed, to: "bob")
        world.missesEvents = []
        world.drain(bob)
        let states = world.take(bob).states
        #expect(states.map(\.withdrawn) == [["ios:d1"]])
        world.publish(alice, 10_002)
        #expect(world.events(bob).isEmpty)
    }

    @Test func `a session that misses its own events during its list is sent its own state`() {
        var settings = Settings()
        settings.limits.statesPerFrameMax = 1
        let world = World(settings)
        let server = world.appServer()
        for contact in ["bob", "carol"] {
            world.login(contact)
            world.say(server, .subscribe, to: contact, for: "alice")
            world.say(server, .subscribed, to: "alice", for: contact)
        }
        let native = world.login("alice")
        // A lease by which the other session of alice does not hear.
        world.subscribe(native, ["alice"])
        world.listsWait = true
        let slow = world.connect()
        world.bind("alice", "slow", on: slow)
        world.handle(.show(Availability()), from: slow)
        _ = world.take(slow)
        world.missesEvents = [slow]
        world.publish(native, 10_001)
        world.missesEvents = []
        for _ in 0..<4 { world.drain(slow) }
        let states = world.take(slow).states
        #expect(states.map { "\($0.publisher) \($0.value)" } == ["alice 10001", "carol 1"])
    }

    @Test func `a device that came back in between is told to have gone`() {
        let (alice, _) = showSeen("one")
        _ = world.take(alice)
        world.missesEvents = [alice]
        world.publish(world.appServer(), 10_001, for: "bob")
        let again = bind("bob", "one")
        world.handle(.show(Availability()), from: again)
        world.handle(.logout, from: again)
        world.missesEvents = []
        world.drain(alice)
        let states = world.take(alice).states
        #expect(states.map(\.withdrawn).first == ["xmpp:one"])
    }

    @Test func `the end of a sight that was missed names the devices of that time`() {
        let server = world.appServer()
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        _ = world.take(bob)
        world.missesEvents = [bob]
        world.say(alice, .unsubscribed, to: "bob")
        // Of what follows bob may not know anything.
        world.handle(.logout, from: alice)
        world.login("alice", "secret")
        world.missesEvents = []
        world.drain(bob)
        #expect(world.take(bob).states.map(\.withdrawn) == [["ios:d1"]])
        _ = server
    }

    @Test func `what was missed is not said of an account that has the topic's number now`() {
        let alice = befriend()
        let bob = bind("bob")
        world.handle(.show(Availability()), from: bob)
        _ = world.take(bob)
        world.missesEvents = [bob]
        world.publish(alice, 10_001)
        world.handle(.logout, from: alice)
        let server = world.appServer()
        world.say(server, .unsubscribe, to: "alice", for: "bob")
        world.relate(server, "bob", .remove, for: "alice")
        world.pass(seconds: 7_200)
        world.login("stranger", "phone")
        world.missesEvents = []
        world.drain(bob)
        let told = world.take(bob).states
        #expect(told.map(\.publisher) == ["alice"])
        #expect(told.map(\.withdrawn) == [["ios:d1"]])
    }

    @Test func `the end of a sight is told however much else was missed`() {
        let alice = world.login("alice", hears: .all)
        let bob = world.login("bob")
        let carol = world.login("carol")
        for (contact, name) in [(bob, "bob"), (carol, "carol")] {
            world.say(alice, .subscribe, to: name)
            world.say(contact, .subscribed, to: "alice")
        }
        _ = world.take(alice)
        world.missesEvents = [alice]
        world.say(bob, .unsubscribed, to: "alice")
        world.publish(carol, 10_001)
        world.publish(world.login("alice", "other"), 10_002)
        world.missesEvents = []
        world.drain(alice)
        #expect(world.take(alice).states.map(\.short).contains("bob 0 hidden []"))
    }

    @Test func `a session is told nothing of whom only another one of its account hears`() {
        let phone = world.login("alice", "phone")
        let tablet = world.login("alice", "tablet", hears: .all)
        let bob = world.login("bob")
        world.say(tablet, .subscribe, to: "bob")
        world.say(bob, .subscribed, to: "alice")
        world.subscribe(phone, ["bob"])
        world.missesEvents = [phone]
        world.publish(bob, 10_001)
        world.unsubscribe(tablet, ["bob"])
        world.missesEvents = []
        _ = world.take(phone)
        world.drain(phone)
        #expect(world.take(phone).states.isEmpty)
    }
}
