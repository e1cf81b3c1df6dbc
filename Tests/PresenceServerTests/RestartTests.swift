import EventLoop
import Foundation
import PresenceClient
import PresenceServer
import Testing

@Suite struct `A restart` {
    @Test func `is nobody's logout for those who return in time`() throws {
        try withDirectory { directory in
            let first = RunningService(directory)
            let alice = try first.login("alice")
            _ = try alice.subscribe(["bob", "carol"])
            let bob = try first.login("bob")
            let carol = try first.login("carol")
            let before = try alice.nextEvent()
            _ = try alice.nextEvent()
            first.stop()
            #expect(try bob.closing() == "4503 shutting_down")
            #expect(try carol.closing() == "4503 shutting_down")
            #expect(try alice.closing() == "4503 shutting_down")

            let second = RunningService(directory)
            defer { second.stop() }
            let back = try second.connect()
            _ = try back.call("login", ["account": "alice", "device": "d1", "sync": "all"])
            let states = try back.next("events")
            #expect(states["sync"] == true)
            #expect(states["events"]?.array?.map { $0["value"] } == [1, 1])
            let seqs = states["events"]?.array?.compactMap { $0["seq"]?.integer } ?? []
            #expect(seqs.allSatisfy { $0 > before["seq"]?.integer ?? .max })
            _ = try back.next("synced")
            let returned = try second.login("bob")
            defer { returned.disconnect() }
            second.pass(seconds: 29)
            try back.keepAlive()
            second.pass(seconds: 2)
            let event = try back.nextEvent()
            #expect(event["publisher"] == "carol")
            #expect(event["value"] == 3)
            #expect(event["cause"] == "restart")
            let list = try back.call("subscriptions")
            #expect(list["count"] == 2)
        }
    }

    @Test func `keeps statuses, what is remembered, and what was expired stays away`() throws {
        try withDirectory { directory in
            let first = RunningService(directory)
            let server = try first.appServer()
            for (name, expiry) in [("bob", 3_600), ("carol", 60)] as [(String, Int64)] {
                _ = try server.call(
                    "publish",
                    [
                        "account": .string(name), "type": 1, "value": 10_001, "ext": "here",
                        "expiry": .integer(expiry),
                    ])
            }
            _ = try server.call(
                "publish", ["account": "erin", "type": 1, "value": 10_001, "ext": ""])
            _ = try first.login("dave").call("logout")
            first.stop()

            let second = RunningService(directory)
            defer { second.stop() }
            second.pass(seconds: 61)
            let states = try second.appServer().call(
                "query", ["type": 1, "accounts": ["bob", "carol", "dave", "erin"]])
            let list = try #require(states["states"]?.array)
            #expect(list[0]["status"]?["ext"] == "here")
            #expect(list[1]["status"] == nil)
            #expect(list[3]["status"]?["ext"] == "")
            #expect(list[2]["value"] == 2)
            #expect(list[2]["lastSeen"]?.integer != nil)
        }
    }

    @Test func `is rejected while another instance has the database`() throws {
        try withService { service in
            let second = RunningService(service.directory)
            let failure = try #require(second.failure)
            #expect(failure.contains(service.directory))
        }
    }

    @Test func `of a port in use is rejected`() throws {
        try withService { service in
            let port = service.address.port
            try withDirectory { directory in
                let second = RunningService(directory) { $0.port = port }
                let failure = try #require(second.failure)
                #expect(failure.contains("EADDRINUSE"))
            }
        }
    }
}
