import Connections
import PresenceClient
import PresenceServer
import Testing

@Suite struct `A client that does not read` {
    @Test func `costs bounded memory, holds nobody up, and ends up with the truth`() throws {
        try withService({ $0.switchOffPace() }) { service in
            let slow = try service.login("slow")
            let fast = try service.login("fast")
            for client in [slow, fast] { _ = try client.subscribe(["bob", "carol"]) }
            let bob = try service.login("bob")
            let carol = try service.login("carol")
            _ = try carol.call("publish", ["type": 1, "value": 20_000])
            // Far more than the kernel's buffers on the way hold.
            let count = 3_000
            for _ in 0..<10 {
                try bob.publishLong(count / 10)
                while try fast.nextNotification(withinMilliseconds: 0) != nil {}
            }
            let stats = try service.appServer().call("stats")
            #expect((stats["conflated"]?.integer ?? 0) > 100)
            #expect((stats["outboxBytes"]?.integer ?? .max) < 300_000)
            _ = try bob.call("logout")

            var last: JSON?
            var seqs: [Int64] = []
            while last?["value"] != 2 {
                for event in try slow.next("events")["events"]?.array ?? []
                where event["publisher"] == "bob" {
                    last = event
                    seqs.append(event["seq"]?.integer ?? 0)
                }
            }
            #expect(seqs == seqs.sorted())
            #expect(seqs.count < count)
            #expect(last?["status"]?["value"] == .integer(Int64(10_000 + count / 10 - 1)))
            #expect(last?["online"] == [])
            #expect(try slow.call("ping")["time"] != nil)
        }
    }

    @Test func `is closed when it has taken nothing for a set time`() throws {
        try withService({ $0.switchOffPace() }) { service in
            let slow = try service.loginWithoutBuffer("slow")
            _ = try slow.subscribe(["bob"])
            let bob = try service.login("bob")
            try service.fallBehind(publisher: bob)
            try service.closeTooSlow(keepingAlive: [slow, bob])
            let server = try service.appServer()
            #expect(try server.call("stats")["closedTooSlow"] == 1)
            #expect(slow.end())
            #expect(try bob.call("ping")["time"] != nil)
        }
    }

    @Test func `or asks very much at once holds nobody up and is answered in order`() throws {
        try withService({
            $0.switchOffPace()
            $0.connection.turn.workOfConnection = 3
        }) { service in
            let eager = try service.login("eager")
            for id in 0..<5_000 {
                try eager.send(["jsonrpc": "2.0", "id": .integer(Int64(id)), "method": "ping"])
            }
            let server = try service.appServer()
            #expect(try server.call("stats")["sessionsConnected"] == 1)
            var ids: [Int64] = []
            for _ in 0..<5_000 {
                let message = try eager.nextMessage(withinMilliseconds: 60_000)
                if let id = message?["id"]?.integer { ids.append(id) }
            }
            #expect(ids == Array(0..<5_000))
        }
    }

    @Test func `but asks and asks is not read from either`() throws {
        try withService({ $0.switchOffPace() }) { service in
            let flooder = try service.login("flooder")
            _ = try flooder.subscribe((0..<100).map { "publisher-with-a-long-name-\($0)" })
            let request = Array(
                #"{"jsonrpc":"2.0","id":1,"method":"subscriptions","params":{"limit":1000}}"#.utf8)
            let frame = [0, 0, 0, UInt8(request.count)] + request
            // Each answer has some ten thousand bytes: 40 MB, if they were made.
            let flood = Array(repeatElement(frame, count: 4_000).joined())
            try flooder.sendRaw(flood)
            let server = try service.appServer()
            #expect((try server.call("stats")["outboxBytes"]?.integer ?? .max) < 1 << 20)
            var answers = 0
            while answers < 4_000 {
                let message = try flooder.nextMessage(withinMilliseconds: 60_000)
                #expect(message?["result"]?["count"] == 100)
                if message?["result"] == nil { break }
                answers += 1
            }
            #expect(answers == 4_000)
        }
    }
}
