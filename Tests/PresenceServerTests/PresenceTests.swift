import PresenceClient
import PresenceServer
import Testing

/// A day in the life, over real sockets.
@Suite struct `Presence over TCP` {
    @Test func `alice sees bob come, say something and go`() throws {
        try withService { service in
            let alice = try service.login("alice")
            let result = try alice.subscribe(["bob"], sync: true)
            #expect(result["count"] == 1)
            #expect(result["states"]?.array?.first?["value"] == 0)
            let bob = try service.login("bob", "phone", ["client": "ios"])
            let login = try alice.nextEvent()
            #expect(login["value"] == 1)
            #expect(login["cause"] == "login")
            #expect(login["online"] == [["client": "ios", "device": "phone"]])
            let published = try bob.call(
                "publish", ["type": 1, "value": 10_001, "ext": "in a meeting"])
            let event = try alice.nextEvent()
            #expect(event["value"] == 10_001)
            #expect(event["ext"] == "in a meeting")
            #expect(event["seq"] == published["seq"])
            #expect(event["id"] == published["id"])
            _ = try bob.call("logout")
            #expect(bob.end())
            let logout = try alice.nextEvent()
            #expect(logout["value"] == 2)
            #expect(logout["online"] == [])
            #expect(logout["lastSeen"]?.integer != nil)
            #expect(logout["status"]?["value"] == 10_001)
        }
    }

    @Test func `a lost connection is told after the grace`() throws {
        try withService { service in
            let alice = try service.login("alice")
            _ = try alice.subscribe(["bob"])
            let bob = try service.login("bob")
            #expect(try alice.nextEvent()["cause"] == "login")
            bob.disconnect()
            let server = try service.appServer()
            try waitUntil("bob's connection is noticed to be lost") {
                try server.call("stats")["sessionsConnected"] == 1
            }
            service.pass(seconds: 5)
            let event = try alice.nextEvent()
            #expect(event["value"] == 3)
            #expect(event["cause"] == "disconnect")
        }
    }

    @Test func `hours pass by saying so`() throws {
        try withService { service in
            let server = try service.appServer()
            _ = try server.call(
                "publish", ["account": "bob", "type": 1, "value": 10_001, "expiry": 3_600])
            let watcher = try service.appServer()
            _ = try watcher.call(
                "subscribe",
                ["account": "alice", "type": 1, "expiry": 7_200, "publishers": ["bob"]])
            #expect(try server.call("stats")["statuses"] == 1)
            service.pass(seconds: 3_601)
            let later = try service.appServer()
            #expect(try later.call("stats")["statuses"] == 0)
            #expect(try later.call("stats")["subscriptions"] == 1)
            service.pass(seconds: 3_600)
            let last = try service.appServer()
            #expect(try last.call("stats")["subscriptions"] == 0)
        }
    }

    @Test func `the same device again replaces the old session`() throws {
        try withService { service in
            let alice = try service.login("alice")
            _ = try alice.subscribe(["bob"])
            let old = try service.login("bob")
            let new = try service.login("bob")
            #expect(try old.closing() == "4409 replaced")
            #expect(old.end())
            _ = try new.call("publish", ["type": 1, "value": 10_000])
            #expect(try alice.nextEvent()["value"] == 1)
            #expect(try alice.nextEvent()["value"] == 10_000)
        }
    }

    @Test func `who only stops sending is still answered`() throws {
        try withService { service in
            let alice = try service.login("alice")
            let other = try service.login("alice", "d2")
            // Both change the same account: one of them has to wait for the other.
            for (client, name) in [(other, "carol"), (alice, "bob")] {
                try client.send([
                    "jsonrpc": "2.0", "id": 9, "method": "subscribe",
                    "params": ["type": 1, "expiry": 60, "publishers": [.string(name)]],
                ])
            }
            alice.finishSending()
            var answer: JSON?
            for _ in 0..<10 where answer == nil {
                let message = try alice.nextMessage(withinMilliseconds: 60_000)
                if message?["id"] == 9 { answer = message }
            }
            #expect(answer?["result"]?["count"]?.integer != nil)
            #expect(alice.end())
        }
    }

    @Test func `an app server asks who is online and kicks`() throws {
        try withService { service in
            let bob = try service.login("bob", "phone", ["client": "android"])
            let server = try service.appServer()
            let states = try server.call("query", ["type": 1, "accounts": ["bob", "nobody"]])
            #expect(states["states"]?.array?.map { $0["value"] } == [1, 0])
            let sessions = try server.call("sessions", ["account": "bob"])
            #expect(sessions["sessions"]?.array?.first?["device"] == "phone")
            #expect(try server.call("kick", ["account": "bob"])["kicked"] == 1)
            #expect(try bob.closing() == "4410 kicked")
            let client = try service.login("carol")
            #expect(client.rejection("stats") == "403 forbidden")
            #expect(client.rejection("kick", ["account": "bob"]) == "403 forbidden")
            // Who may not ask is told that, and not what was wrong with how it was asked.
            #expect(client.rejection("query", ["type": "x"]) == "403 forbidden")
            #expect(try service.connect().rejection("subscribe") == "401 not_logged_in")
        }
    }
}

/// Asks until it is so. Bounded by tries of a round trip each, not by time.
func waitUntil(_ what: Comment, _ isSo: () throws -> Bool) throws {
    for _ in 0..<10_000 where try isSo() { return }
    Issue.record(what)
}
