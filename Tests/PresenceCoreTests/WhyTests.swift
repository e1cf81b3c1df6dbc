import PresenceCore
import Testing

@Suite struct `What why tells` {
    @Test func `an event went to those who were there and subscribed`() {
        let world = World()
        let alice = world.login("alice", "phone")
        world.login("bob")
        world.subscribe(alice, ["bob"])
        world.pass(seconds: 1)
        world.login("bob", "tab")
        #expect(
            world.fates("alice", "bob") == [#"login yes ["phone sent"]"#, "login no []"])
    }

    @Test func `relationships and visibility decide who sees`() {
        let world = World()
        let alice = world.login("alice", "phone")
        world.login("alice", "tab", hears: .all)
        let bob = world.login("bob")
        world.say(alice, .subscribe, to: "bob")
        var report = world.why("alice", "bob").report
        #expect(report.relation == .pending && report.visibility == .open)
        world.say(bob, .subscribed, to: "alice")
        world.setVisibility(bob, .approved)
        report = world.why("alice", "bob").report
        #expect(report.relation == .active && report.visibility == .approved)
        #expect(report.subscriber.sessions.map(\.isSeeing) == [false, true])
        #expect(report.publisher.sessions.map(\.isSeeing) == [nil])
        world.setVisibility(bob, .hidden)
        report = world.why("alice", "bob").report
        #expect(report.subscriber.sessions.map(\.isSeeing) == [false, false])
    }

    @Test func `what a relationship changes for one account is no event of the publisher`() {
        let world = World()
        let alice = world.login("alice", "phone")
        world.subscribe(alice, ["bob"])
        let bob = world.login("bob")
        world.say(world.login("carol", hears: .all), .subscribe, to: "bob")
        world.say(bob, .subscribed, to: "carol")
        world.say(bob, .unsubscribed, to: "carol")
        #expect(world.fates("alice", "bob") == [#"login yes ["phone sent"]"#])
    }

    @Test func `sessions that others do not see are told of, too`() {
        let world = World()
        world.login("alice", "phone", hears: .all)
        let connection = world.connect()
        world.bind("alice", "desk", on: connection)
        let (report, effects) = world.why("alice", "bob")
        let sessions = report.subscriber.sessions
        #expect(sessions.map { effects.text($0.entry.device) } == ["phone", "desk"])
        #expect(sessions.map(\.entry.connection) == [.connected, .hidden])
        #expect(sessions.map(\.isListing) == [false, false])
    }

    @Test func `who was not connected is told by the next login list`() {
        let world = World()
        let alice = world.login("alice", "phone")
        world.subscribe(alice, ["bob"])
        world.handle(.logout, from: alice)
        world.login("bob")
        #expect(world.fates("alice", "bob") == ["login yes []"])
        world.login("alice", "tab", sync: .all)
        #expect(world.fates("alice", "bob") == ["login yes [], then tab all"])
    }

    @Test func `an event during the login list is in the list`() {
        let world = World()
        let alice = world.login("alice", "phone")
        let publishers = (0..<150).map { "p\($0)" }
        world.subscribe(alice, Array(publishers.prefix(100)))
        world.subscribe(alice, Array(publishers.suffix(50)))
        world.listsWait = true
        world.login("alice", "watch", sync: .all)
        world.login("p149")
        #expect(
            world.fates("alice", "p149") == [#"login yes ["phone sent", "watch listed"]"#])
        world.continueLists()
        world.login("p149", "tab")
        #expect(
            world.fates("alice", "p149").first == #"login yes ["phone sent", "watch sent"]"#)
    }

    @Test func `what is left out for a slow reader is conflated, or dropped with it`() {
        let world = World()
        let alice = world.login("alice", "phone")
        world.subscribe(alice, ["bob"])
        let bob = world.login("bob")
        world.publish(bob, 10_000)
        world.missLast(alice)
        world.publish(bob, 10_001)
        #expect(
            world.fates("alice", "bob").prefix(2) == [
                #"publish yes ["phone waiting"]"#, #"publish yes ["phone waiting"]"#,
            ])
        world.drain(alice)
        world.publish(bob, 10_002)
        world.missLast(alice)
        world.drop(alice)
        #expect(world.fates("alice", "bob")[0] == #"publish yes ["phone dropped"]"#)
        #expect(world.fates("alice", "bob")[1] == #"publish yes ["phone conflated"]"#)
        #expect(world.fates("alice", "bob")[2] == #"publish yes ["phone conflated"]"#)
    }

    @Test func `what was sent to somebody who was not heard again may not have come`() {
        let world = World()
        let alice = world.login("alice", "phone")
        world.subscribe(alice, ["bob"])
        world.pass(seconds: 1)
        world.login("bob")
        world.pass(seconds: 44)
        world.drop(alice, .silent, lastHeard: 0)
        let (report, effects) = world.why("alice", "bob")
        #expect(world.fates("alice", "bob").last == #"login yes ["phone uncertain"]"#)
        let connection = report.subscriber.ended.first
        #expect(connection?.end == .silent)
        #expect(connection.map { effects.text($0.device) } == "phone")
        #expect(connection?.lastHeard.milliseconds == World.start)
    }

    @Test func `it says how subscriptions ended, and who ended them`() {
        let world = World()
        let alice = world.login("alice")
        let server = world.appServer()
        // Somebody whom nobody needs to remember would be forgotten with his history.
        world.login("bob")
        world.subscribe(alice, ["bob"])
        world.unsubscribe(alice, ["bob"])
        world.subscribe(alice, ["bob"])
        world.unsubscribe(server, nil, for: "alice")
        world.subscribe(alice, ["bob"], seconds: 60)
        world.pass(seconds: 30)
        world.subscribe(alice, ["carol"], seconds: 60)
        world.pass(seconds: 31)
        let (report, _) = world.why("alice", "bob")
        #expect(report.ended.map(\.end) == [.expired, .byAppServer, .byAccount])
        #expect(report.subscription == nil)
        let until = world.why("alice", "carol").report.subscription?.until
        #expect(until?.milliseconds == World.start + 90_000)
    }

    @Test func `sessions stand there with their phase and last sign of life`() {
        let world = World()
        world.drop(world.login("bob", "phone", reach: .push))
        world.pass(seconds: 6)
        world.login("bob", "tab")
        let (report, _) = world.why("alice", "bob")
        #expect(report.publisher.sessions.map(\.entry.connection) == [.pushOnly, .connected])
        #expect(report.publisher.ended.map(\.end) == [.lost])
        #expect(!report.subscriber.isKnown)
    }

    @Test func `who has been forgotten leaves nothing to the next with the number`() {
        let world = World()
        let server = world.appServer()
        world.subscribe(server, ["bob"], for: "alice")
        world.publish(server, 10_000, for: "bob")
        world.clear(server, for: "bob")
        world.unsubscribe(server, nil, for: "alice")
        world.subscribe(server, ["mallory"], for: "trudy")
        for subscriber in ["alice", "bob", "trudy", "mallory"] {
            for publisher in ["bob", "alice", "mallory", "trudy"] {
                #expect(world.why(subscriber, publisher).report.events.isEmpty)
                #expect(world.why(subscriber, publisher).report.ended.isEmpty)
            }
        }
        #expect(!world.why("alice", "bob").report.publisher.isKnown)
    }

    @Test func `of whom it has forgotten, it does not say what was`() {
        for forgottenMax in [32_768, 1] {
            var settings = Settings()
            settings.history.forgottenMax = forgottenMax
            let world = World(settings)
            let server = world.appServer()
            world.subscribe(server, ["bob"], for: "alice")
            let bob = world.login("bob")
            #expect(world.fates("alice", "bob") == ["login yes []"])
            world.pass(seconds: 1)
            // No session, no subscription: alice is forgotten, and bob is not.
            world.unsubscribe(server, nil, for: "alice")
            world.pass(seconds: 1)
            for _ in 0..<2 {
                // Whether the name is known again or not.
                let (report, _) = world.why("alice", "bob")
                #expect(report.events.map(\.subscribed) == [.unknown])
                #expect(report.events.map(\.isComplete) == [false])
                #expect(report.reach.events.milliseconds == World.start)
                for since in [
                    report.reach.subscriptions, report.reach.connections, report.reach.messages,
                ] {
                    #expect(since.milliseconds >= World.start + 1_000)
                }
                world.subscribe(server, ["bob"], for: "alice")
            }
            // What comes now is known, and what was of a name that was never known.
            world.publish(bob, 10_000, type: 1)
            #expect(world.why("carol", "bob").report.events.last?.subscribed == .no)
            // Once others are forgotten, it may be that she was.
            world.unsubscribe(server, nil, for: "alice")
            world.subscribe(server, ["bob"], for: "dave")
            world.unsubscribe(server, nil, for: "dave")
            world.pass(seconds: 1)
            let carol = world.why("carol", "bob").report.events.last
            #expect(carol?.subscribed == (forgottenMax == 1 ? .unknown : .no))
            let alice = world.why("alice", "bob").report.events
            #expect(alice.allSatisfy { $0.subscribed == .unknown && !$0.isComplete })
            // The events of an account that was forgotten are missing, and that is said.
            world.subscribe(server, ["erin"], for: "dave")
            world.publish(server, 10_000, for: "erin")
            world.clear(server, for: "erin")
            world.unsubscribe(server, nil, for: "dave")
            world.pass(seconds: 1)
            let erin = world.why("bob", "erin").report
            #expect(erin.events.isEmpty && erin.reach.events.milliseconds > World.start)
        }
    }

    @Test func `it does not tell what it does not know any more`() {
        var settings = Settings()
        settings.history.subscriptionsMax = 1
        settings.history.connectionsMax = 1
        let world = World(settings)
        let alice = world.login("alice")
        world.subscribe(alice, ["bob"])
        world.pass(seconds: 1)
        let bob = world.login("bob")
        world.pass(seconds: 1)
        world.unsubscribe(alice, ["bob"])
        world.subscribe(alice, ["carol"])
        #expect(world.fates("alice", "bob") == ["login unknown []"])
        world.subscribe(alice, ["bob"])
        world.publish(bob, 10_000)
        #expect(world.fates("alice", "bob").first == #"publish yes ["d1 sent"]"#)
        for _ in 0..<2 { world.drop(world.login("dave")) }
        #expect(world.why("alice", "bob").report.events.last?.isComplete == false)
        let (report, _) = world.why("alice", "bob")
        #expect(report.reach.subscriptions.milliseconds == World.start + 2_000)
        #expect(report.reach.events.milliseconds == World.start)
    }
}
