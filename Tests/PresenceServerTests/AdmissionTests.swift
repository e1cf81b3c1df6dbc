import PresenceClient
import PresenceCore
import PresenceServer
import Testing

@Suite struct Admission {
    @Test func `who asks too fast is answered more slowly, in order, and loses nothing`() throws {
        try withService({ $0.admission.requestPace = Pace(perSecond: 1, burst: 20) }) { service in
            let client = try service.login("alice")
            for id in 0..<40 {
                try client.send(["jsonrpc": "2.0", "id": .integer(Int64(id)), "method": "ping"])
            }
            // The pace allows fifteen at once, whatever the login took, and then one a second.
            for id in 0..<40 {
                if id >= 15 { service.pass(seconds: 1) }
                let message = try client.nextMessage(withinMilliseconds: 60_000)
                #expect(message?["id"]?.integer == Int64(id))
            }
            let server = try service.appServer()
            #expect((try server.call("stats")["throttled"]?.integer ?? 0) > 0)
        }
    }

    /// A `ping` as it is sent.
    private static let ping: [UInt8] = {
        let body = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8)
        return [0, 0, 0, UInt8(body.count)] + body
    }()

    @Test func `a client that is throttled is heard by what waits unread`() throws {
        try withService({
            $0.admission.requestPace = Pace(perSecond: 1, burst: 3)
            $0.engine.heartbeatSeconds = 5
        }) { service in
            let client = try service.login("alice")
            let frame = Self.ping
            // More than the service reads at once: it is busy with that for half an hour.
            try client.sendRaw(Array(repeatElement(frame, count: 4_000).joined()))
            for second in 1...60 {
                service.pass(seconds: 1)
                let message = try client.nextMessage(withinMilliseconds: 60_000)
                #expect(message?["id"] == 1, "after \(second) s: \(message?.text ?? "nothing")")
            }
        }
    }

    @Test func `a frame that we do not read to its end is not late`() throws {
        try withService({
            $0.admission.requestPace = Pace(perSecond: 1, burst: 3)
            $0.connection.frameSeconds = 2
        }) { service in
            let client = try service.login("alice")
            let frame = Self.ping
            // A frame and a half; then the other half, and more than may be asked at once.
            try client.sendRaw(frame + frame.prefix(20))
            #expect(try client.nextMessage(withinMilliseconds: 60_000)?["id"] == 1)
            try client.sendRaw(
                frame.suffix(frame.count - 20) + Array(repeatElement(frame, count: 8).joined()))
            // The first answer shows that the service has read the rest of its frame.
            for answer in 0..<9 {
                if answer > 0 { service.pass(seconds: 1) }
                #expect(try client.nextMessage(withinMilliseconds: 60_000)?["id"] == 1)
            }
        }
    }

    @Test func `logins beyond what can be served are told when to come back`() throws {
        try withService({ $0.admission.loginPace = Pace(perSecond: 1, burst: 100) }) { service in
            // A hundred may come at once. However slow this machine is, more than that come
            // faster than one a second.
            var rejected: Client?
            for number in 0..<400 where rejected == nil {
                let client = try service.connect()
                let params: JSON = ["account": .string("a\(number)"), "device": "d"]
                if client.rejection("login", params) == "503 overloaded" { rejected = client }
            }
            let close = try #require(try rejected?.next("close"))
            #expect(close["code"] == 4_504)
            #expect((1...20).contains(close["retryAfter"]?.integer ?? 0))
            #expect(rejected?.end() == true)
            service.pass(seconds: 200)
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

    @Test func `beyond the memory budget nothing is begun, and what is there continues`() throws {
        try withService({ $0.admission.memoryBytesMax = 1 }) { service in
            let client = try service.connect()
            let params: JSON = ["account": "alice", "device": "d"]
            #expect(client.rejection("login", params) == "503 overloaded")
            #expect(client.rejection("ping") == "401 not_logged_in")
        }
    }

    @Test func `beyond the memory budget a device whose session is kept can return`() throws {
        try withDirectory { directory in
            let before = RunningService(directory)
            _ = try before.login("alice", "phone")
            before.stop()
            let service = RunningService(directory) { $0.admission.memoryBytesMax = 1 }
            defer { service.stop() }
            let phone = try service.login("alice", "phone")
            let other: JSON = ["account": "alice", "device": "other"]
            #expect(try service.connect().rejection("login", other) == "503 overloaded")
            // Within its grace.
            phone.disconnect()
            _ = try service.login("alice", "phone")
            #expect(
                try service.connect().rejection("login", ["client": "server"]) == "503 overloaded")
        }
    }
}

@Suite struct `Logins that come to nothing` {
    @Test func `take nobody's turn`() throws {
        try withService({ $0.admission.loginPace = Pace(perSecond: 1, burst: 5) }) { service in
            let busy = try service.login("busy")
            for _ in 0..<50 {
                #expect(
                    busy.rejection("login", ["key": "no-key-at-all-of-ours"]) != "503 overloaded")
            }
            let stranger = try service.connect()
            for _ in 0..<50 {
                let rejection = stranger.rejection("login", ["key": "no-key-at-all-of-ours"])
                #expect(rejection == "401 invalid_token")
            }
            _ = try service.login("alice")
        }
    }
}
