import PresenceClient
import Testing

@Suite struct `A WebSocket` {
    @Test func `is sent the same events as a native connection`() throws {
        try withService { service in
            let native = try service.login("alice")
            _ = try native.subscribe(["bob"])
            let web = try WebSocketClient(service)
            try web.login("carol")
            try web.call("subscribe", #"{"type":1,"expiry":600,"publishers":["bob"]}"#)
            let bob = try service.login("bob")
            for ext in ["", "in a meeting", String(repeating: "x", count: 4_000)] {
                if !ext.isEmpty {
                    _ = try bob.call(
                        "publish", ["type": 1, "value": 10_001, "ext": .string(ext)])
                }
                let body = try #require(try native.nextFrame(withinMilliseconds: 60_000))
                #expect(try web.text() == String(decoding: body, as: UTF8.self))
            }
        }
    }

    /// A background tab runs no timers, and its browser answers pings.
    @Test func `that answers pings is not silent, however long it sends nothing else`() throws {
        try withService { service in
            let other = try service.appServer()
            let tab = try WebSocketClient(service)
            try tab.login("alice")
            for _ in 0..<20 {
                service.pass(seconds: 30)
                #expect(try tab.frame().opcode == .ping)
                try tab.send("", .pong)
                // What arrived before has been read then.
                _ = try other.call("ping")
            }
            #expect(try tab.call("ping").contains("result"))
        }
    }

    @Test func `that sends something in each heartbeat is sent no pings`() throws {
        try withService { service in
            let client = try WebSocketClient(service)
            try client.login("alice")
            for _ in 0..<10 {
                service.pass(seconds: 20)
                try client.send("")
                #expect(try client.text() == "")
            }
        }
    }

    @Test func `that answers no pings is closed, with the code of the notification`() throws {
        try withService { service in
            let tab = try WebSocketClient(service)
            try tab.login("alice")
            service.pass(seconds: 30)
            #expect(try tab.frame().opcode == .ping)
            service.pass(seconds: 15)
            #expect(try tab.text().contains(#""code":4408,"reason":"idle_timeout""#))
            let (opcode, payload) = try tab.frame()
            #expect(opcode == .close)
            #expect(payload == [0x11, 0x38] + "idle_timeout".utf8)
        }
    }
}
