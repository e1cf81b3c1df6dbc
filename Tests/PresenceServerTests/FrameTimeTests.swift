import PresenceClient
import Testing

/// A frame that has begun must be complete in time; one that is complete is forgotten.
@Suite struct `The time for a frame` {
    private let subscribe = #"""
        {"jsonrpc":"2.0","id":"s","method":"subscribe",\#
        "params":{"type":1,"expiry":600,"publishers":["bob"]}}
        """#

    private func framed(_ body: String) -> [UInt8] {
        withUnsafeBytes(of: UInt32(body.utf8.count).bigEndian) { Array($0) } + Array(body.utf8)
    }

    @Test func `is over when the frame has come, also if it waits for the store`() throws {
        try withService { service in
            let alice = try service.login("alice")
            let other = try service.appServer()
            let bytes = framed(subscribe)
            try alice.sendRaw(Array(bytes[..<20]))
            _ = try other.call("ping")
            try alice.sendRaw(Array(bytes[20...]))
            let answer = try #require(try alice.nextMessage(withinMilliseconds: 60_000))
            #expect(answer["result"]?["count"] == 1)
            service.pass(seconds: 20)
            for _ in 0..<3 { _ = try other.call("ping") }
            _ = try alice.call("ping")
        }
    }

    @Test func `is ten seconds`() throws {
        try withService { service in
            let alice = try service.login("alice")
            let other = try service.appServer()
            try alice.sendRaw(Array(framed(subscribe)[..<20]))
            _ = try other.call("ping")
            service.pass(seconds: 10)
            #expect(try alice.closing() == "4400 protocol_violation")
        }
    }
}
