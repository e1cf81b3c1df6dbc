import PresenceClient
import PresenceCore
import PresenceServer
import Testing

@Suite struct `The feed of a service` {
    /// What somebody who asks anew is told.
    func truth(_ service: RunningService) throws -> [String] {
        let client = try service.appServer()
        var table = FeedTable()
        try table.open(client)
        try table.read(client) { $0.isComplete }
        #expect(table.resets == 1)
        return table.inForce
    }

    @Test func `begins with the states in force and goes on with every change`() throws {
        try withService { service in
            let alice = try service.login("alice")
            _ = try alice.call("publish", ["type": 100, "value": 20_000])
            let backend = try service.appServer()
            var table = FeedTable()
            try table.open(backend)
            try table.read(backend) { $0.isComplete }
            #expect(table.inForce.count == 2 && table.events.allSatisfy { $0["cause"] == "sync" })
            let bob = try service.login("bob")
            _ = try bob.call("publish", ["type": 1, "value": 10_001, "ext": "é\"\n"])
            _ = try alice.call("logout")
            try table.read(backend) { $0.events.count == 5 }
            #expect(
                table.events.suffix(3).map { $0["cause"] ?? "" } == ["login", "publish", "logout"])
            #expect(table.events[3]["ext"] == "é\"\n")
            #expect(table.cursor?.hasSuffix(table.events[4]["id"]?.string ?? "-") == true)
            #expect(try truth(service) == table.inForce)
            withExtendedLifetime(bob) {}
        }
    }

    @Test func `begins now for a reader that wants no snapshot`() throws {
        try withService { service in
            let alice = try service.login("alice")
            _ = try alice.call("publish", ["type": 1, "value": 10_001])
            let reader = try service.appServer()
            let answer = try reader.call("feed", ["from": "now"])
            #expect(answer["reset"] == false)
            let cursor = try #require(answer["cursor"]?.string)
            _ = try alice.call("publish", ["type": 1, "value": 10_002])
            let change = try reader.next("feed")
            #expect(change["events"]?.array?.compactMap { $0["value"]?.integer } == [10_002])
            #expect(change["snapshot"] == nil)
            // The cursor of the beginning is one like others.
            let second = try service.appServer()
            #expect(
                try second.call("feed", ["cursor": .string(cursor)])
                    == ["reset": false, "cursor": .string(cursor)])
            #expect(try second.next("feed") == change)
            // A reader that begins again, now, is sent nothing twice.
            let third = try second.call("feed", ["from": "now"])
            #expect(third == ["reset": false, "cursor": change["cursor"] ?? .null])
            #expect(second.rejection("feed", ["from": "then"]) == "414 out_of_range")
            let both: JSON = ["from": "now", "cursor": .string(cursor)]
            #expect(second.rejection("feed", both) == "414 duplicate_field")
            _ = try alice.call("publish", ["type": 1, "value": 10_003])
            #expect(
                try second.next("feed")["events"]?.array?.compactMap { $0["value"]?.integer }
                    == [10_003])
            #expect(try reader.call("stats")["feedResets"] == 0)
        }
    }

    @Test func `goes on where a reader was, and begins anew where that is not known`() throws {
        try withService { service in
            let first = try service.appServer()
            var table = FeedTable()
            try table.open(first)
            try table.read(first) { $0.isComplete }
            let cursor = try #require(table.cursor)
            let alice = try service.login("alice")
            _ = try alice.call("publish", ["type": 1, "value": 10_001])
            let second = try service.appServer()
            try table.open(second)
            try table.read(second) { $0.events.count == 2 }
            #expect(table.resets == 1)
            let future = String(cursor.dropLast(6)) + "ZZZZZZ"
            for unknown in [future, "Z" + cursor.dropFirst(), "", "nonsense", cursor + "0"] {
                let third = try service.appServer()
                let answer = try third.call("feed", ["cursor": .string(unknown)])
                #expect(answer == ["reset": true], "\(unknown)")
            }
            #expect(second.rejection("feed", ["cursor": 5]) == "414 wrong_type")
            #expect(alice.rejection("feed") == "403 forbidden")
            #expect(try service.connect().rejection("feed") == "401 not_logged_in")
        }
    }

    @Test func `has so many readers, and no more`() throws {
        try withService({ $0.feed.readersMax = 2 }) { service in
            let readers = try (0..<2).map { _ in try service.appServer() }
            for reader in readers { _ = try reader.call("feed") }
            _ = try readers[0].call("feed")
            let third = try service.appServer()
            #expect(third.rejection("feed") == "419 feed_quota")
            #expect(try third.call("stats")["feedReaders"] == 2)
            _ = try readers[1].call("logout")
            #expect(readers[1].end())
            #expect(try third.call("feed")["reset"] == true)
        }
    }

    @Test func `is kept for a while when nobody reads it, and then not`() throws {
        try withService({ $0.feed.feedSeconds = 60 }) { service in
            let server = try service.appServer()
            #expect(try server.call("stats")["feedEvents"] == 0)
            var table = FeedTable()
            let reader = try service.appServer()
            try table.open(reader)
            try table.read(reader) { $0.isComplete }
            _ = try reader.call("logout")
            _ = try server.call("publish", ["account": "a", "type": 100, "value": 10_000])
            #expect(try server.call("stats")["feedEvents"] == 1)
            let cursor: JSON = ["cursor": .string(table.cursor ?? "")]
            #expect(try service.appServer().call("feed", cursor)["reset"] == false)
            for _ in 0..<8 {
                service.pass(seconds: 10)
                try server.keepAlive()
                _ = try server.call("ping")
            }
            #expect(try server.call("stats")["feedEvents"] == 0)
            #expect(try service.appServer().call("feed", cursor)["reset"] == true)
        }
    }

    @Test func `begins a reader anew that is too slow, and ends with the truth`() throws {
        try withService({
            $0.switchOffPace()
            $0.feed.feedBytesMax = 1 << 20
        }) { service in
            let slow = try service.appServer()
            var table = FeedTable()
            try table.open(slow)
            let bob = try service.login("bob")
            let ext = JSON.string(String(repeating: "x", count: 4_000))
            for number in 0..<3_000 {
                let type: Int64 = 100 + Int64(number % 50)
                _ = try bob.call(
                    "publish",
                    ["type": .integer(type), "value": .integer(Int64(10_000 + number)), "ext": ext])
            }
            let stats = try service.appServer().call("stats")
            #expect((stats["feedBytes"]?.integer ?? .max) <= 1 << 20)
            #expect((stats["outboxBytes"]?.integer ?? .max) < 200_000, "a place costs nothing")
            let truth = try truth(service)
            #expect(truth.count == 51)
            // It does not come to an end without the truth.
            try table.read(slow) { $0.resets >= 2 && $0.isComplete && $0.inForce == truth }
            withExtendedLifetime(bob) {}
        }
    }

    @Test func `goes on over a restart in order`() throws {
        try withDirectory { directory in
            var table = FeedTable()
            var service = RunningService(directory)
            let first = try service.appServer()
            try table.open(first)
            try table.read(first) { $0.isComplete }
            let alice = try service.login("alice")
            for type: Int64 in [100, 101] {
                let expiry: Int64 = type == 100 ? 60 : 3_600
                _ = try alice.call(
                    "publish",
                    ["type": .integer(type), "value": 20_000, "expiry": .integer(expiry)])
            }
            service.stop()

            // The status of type 100 runs out, and nobody is there to say so.
            service = RunningService(directory, aheadSeconds: 120)
            let second = try service.appServer()
            try table.open(second)
            try table.read(second) { $0.events.contains { $0["cause"] == "expired" } }
            service.pass(seconds: 40)
            try table.read(second) { $0.events.last?["cause"] == "restart" }
            #expect(table.resets == 1)
            #expect(table.inForce == ["101/alice [] 20000"])
            #expect(table.inForce == (try truth(service)))
            service.stop()
        }
    }
}
