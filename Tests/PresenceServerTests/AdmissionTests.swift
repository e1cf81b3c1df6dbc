import PresenceClient
import PresenceCore
import PresenceServer
import Testing

@Suite struct Admission {
    @Test func `who asks too fast is answered more slowly, in order, and loses nothing`() throws {
        try withService({ $0.admission.requestPace = Pace(perSecond: 50, burst: 20) }) { service in
            let client = try service.login("alice")
            for id in 0..<40 {
                try client.send(["jsonrpc": "2.0", "id": .integer(Int64(id)), "method": "ping"])
            }
            var ids: [Int64] = []
            while ids.count < 40 {
                guard let message = try client.nextMessage(withinMilliseconds: 200) else {
                    service.pass(seconds: 0.1)
                    continue
                }
                if let id = message["id"]?.integer { ids.append(id) }
            }
            #expect(ids == Array(0..<40))
            let server = try service.appServer()
            #expect((try server.call("stats")["throttled"]?.integer ?? 0) > 0)
        }
    }

    @Test func `logins beyond what can be served are told when to come back`() throws {
        try withService({ $0.admission.loginPace = Pace(perSecond: 1, burst: 3) }) { service in
            let clients = try (0..<4).map { _ in try service.connect() }
            for (number, client) in clients.enumerated() where number < 3 {
                _ = try client.call(
                    "login", ["account": .string("a\(number)"), "device": "d"])
            }
            let params: JSON = ["account": "late", "device": "d"]
            #expect(clients[3].refusal("login", params) == "503 overloaded")
            let close = try clients[3].next("close")
            #expect(close["code"] == 4_504)
            #expect((1...20).contains(close["retryAfter"]?.integer ?? 0))
            #expect(clients[3].end())
            service.pass(seconds: 1)
            _ = try service.login("late")
        }
    }

    @Test func `connections beyond the limit of an address are closed with a word`() throws {
        try withService({ $0.admission.connectionsPerAddressMax = 2 }) { service in
            let first = try service.login("alice")
            let second = try service.login("bob")
            let third = try service.connect()
            #expect(try third.closing() == "4504 overloaded")
            #expect(third.end())
            second.disconnect()
            try waitUntil("there is room again") {
                (try? service.login("carol")) != nil
            }
            #expect(try first.call("ping")["time"] != nil)
        }
    }

    @Test func `connections beyond all that there may be are, too`() throws {
        try withService({ $0.admission.connectionsMax = 1 }) { service in
            let first = try service.login("alice")
            #expect(try service.connect().closing() == "4504 overloaded")
            #expect(try first.call("ping")["time"] != nil)
        }
    }

    @Test func `beyond the memory budget nothing is begun, and what is there goes on`() throws {
        try withService({ $0.admission.memoryBytesMax = 1 }) { service in
            let client = try service.connect()
            let params: JSON = ["account": "alice", "device": "d"]
            #expect(client.refusal("login", params) == "503 overloaded")
            #expect(client.refusal("ping") == "401 not_logged_in")
        }
    }
}
