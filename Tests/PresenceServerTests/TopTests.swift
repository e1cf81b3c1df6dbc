import PresenceClient
import PresenceCore
import PresenceServer
import Testing

@Suite struct Top {
    @Test func `names the busiest publishers, and counts the last minute`() throws {
        try withService { service in
            let alice = try service.login("alice")
            _ = try alice.subscribe(["bob", "carol"])
            let carol = try service.login("carol")
            let bob = try service.login("bob")
            for _ in 0..<3 { _ = try bob.call("publish", ["type": 1, "value": 10_000]) }
            _ = try carol.call("publish", ["type": 1, "value": 10_000])
            let server = try service.appServer()
            let top = try server.call("top", ["limit": 2])
            let lines = (top["publishers"]?.array ?? []).map { line in
                ["account", "events", "deliveries"].map { line[$0]?.text ?? "" }
                    .joined(separator: " ")
            }
            #expect(lines == [#""bob" 4 4"#, #""carol" 2 2"#])
            #expect(top["counts"]?["events"] == 7)
            #expect(top["counts"]?["deliveries"] == 6)
            #expect(top["counts"]?["logins"] == 3)
            #expect(top["readers"] == [])
            #expect((top["gauges"]?["historyBytes"]?.integer ?? 0) > 0)
        }
    }

    @Test func `names the accounts of which, and for which, most messages wait`() throws {
        try withService { service in
            let server = try service.appServer()
            #expect(try server.call("top")["senders"] == [])
            let (alice, eve) = (try service.login("alice"), try service.login("eve"))
            for to in ["bob", "carol", "carol"] {
                _ = try eve.call("send", ["accounts": [.string(to)], "body": "a"])
            }
            _ = try alice.call(
                "send", ["accounts": ["bob"], "body": .string(String(repeating: "a", count: 999))])
            _ = try server.call("send", ["accounts": ["dave"], "body": "of the service"])
            let top = try server.call("top")
            func lines(_ member: String, _ top: JSON) -> [String] {
                (top[member]?.array ?? []).map { line in
                    ["account", "messages"].map { line[$0]?.text ?? "" }.joined(separator: " ")
                }
            }
            #expect(lines("senders", top) == [#""eve" 3"#, #""alice" 1"#])
            #expect(lines("boxes", top) == [#""bob" 2"#, #""carol" 2"#, #""dave" 1"#])
            #expect(top["senders"]?.array?.last?["bytes"] == 999)
            #expect(lines("boxes", try server.call("top", ["limit": 1])) == [#""bob" 2"#])
        }
    }

    @Test func `forgets what is more than a minute ago`() throws {
        try withService({ $0.engine.heartbeatSeconds = 300 }) { service in
            let bob = try service.login("bob")
            _ = try bob.call("publish", ["type": 1, "value": 10_000])
            for _ in 0..<3 {
                service.pass(seconds: 40)
                _ = try bob.call("ping")
            }
            let server = try service.appServer()
            let top = try server.call("top")
            #expect(top["publishers"] == [])
            #expect(top["counts"]?["events"] == 0)
            #expect(top["milliseconds"]?.integer == 60_000)
        }
    }

    @Test func `is for app servers, and of a bounded length`() throws {
        try withService { service in
            let alice = try service.login("alice")
            #expect(alice.rejection("top") == "403 forbidden")
            let server = try service.appServer()
            #expect(server.rejection("top", ["limit": 101]) == "414 out_of_range")
        }
    }
}
