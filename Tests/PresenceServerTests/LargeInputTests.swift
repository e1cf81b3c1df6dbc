import PresenceClient
import Testing

@testable import PresenceServer

@Suite struct `Large messages that are not complete` {
    private let free = LargeInputs.bytesFree

    @Test func `count while they use more than a small one`() {
        var inputs = LargeInputs()
        inputs.note(1, bytes: free)
        #expect(inputs.count == 0 && inputs.bytes == 0)
        inputs.note(1, bytes: free + 1)
        inputs.note(2, bytes: free + 10)
        inputs.note(1, bytes: free + 5)
        #expect(inputs.count == 2 && inputs.bytes == 2 * free + 15)
        inputs.note(2, bytes: 0)
        inputs.remove(3)
        #expect(inputs.count == 1 && inputs.bytes == free + 5)
        inputs.checkInvariants()
        inputs.remove(1)
        #expect(inputs.count == 0 && inputs.bytes == 0)
        inputs.checkInvariants()
    }

    @Test func `end in the order in which they began, as long as there are several`() {
        var inputs = LargeInputs()
        for slot in [5, 3, 4] { inputs.note(slot, bytes: free * 2) }
        #expect(inputs.firstToEnd(bytesMax: free * 6) == nil)
        // That one of them has grown since does not make it younger.
        inputs.note(5, bytes: free * 3)
        #expect(inputs.firstToEnd(bytesMax: free * 6) == 5)
        inputs.remove(5)
        #expect(inputs.firstToEnd(bytesMax: free * 3) == 3)
        inputs.remove(3)
        #expect(inputs.firstToEnd(bytesMax: 0) == nil)
    }

    @Test func `have another period for each 64 KiB`() {
        var inputs = LargeInputs()
        let arrivals = [free, free + 1, free + 1, 2 * free, 2 * free + 1]
        let outcomes = arrivals.map { bytes in
            inputs.note(1, bytes: bytes)
            return inputs.hasNextPeriod(1)
        }
        #expect(outcomes == [false, true, false, false, true])
        let other = inputs.hasNextPeriod(2)
        #expect(!other)
    }
}

/// A service beside clients whose large messages arrive in parts.
@Suite struct `Large messages in parts` {
    private let body = String(repeating: "今", count: 43_690)

    private var send: String {
        #"{"jsonrpc":"2.0","id":"s","method":"send","params":{"accounts":["bob"],"#
            + #""body":"\#(body)"}}"#
    }

    private var frame: [UInt8] {
        withUnsafeBytes(of: UInt32(send.utf8.count).bigEndian) { Array($0) } + Array(send.utf8)
    }

    private func sample(_ name: String, _ server: Client) throws -> Int {
        let text = try #require(try server.call("metrics")["text"]?.string)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + " ") })
        return try #require(Int(line.dropFirst(name.count + 1)))
    }

    /// Sends a part, and waits until the service has it.
    private func sendPart(
        _ client: Client, _ part: ArraySlice<UInt8>, all: Int, _ server: Client
    ) throws {
        try client.sendRaw(Array(part))
        try waitUntil("the service has \(all) bytes") {
            try sample("porchlight_large_input_bytes", server) == all
        }
    }

    @Test func `have ten seconds for each 64 KiB of a frame`() throws {
        try withService { service in
            let (alice, server) = (try service.login("alice"), try service.appServer())
            try sendPart(alice, frame[..<70_000], all: 70_000, server)
            service.pass(seconds: 9)
            _ = try server.call("ping")
            service.pass(seconds: 2)
            _ = try server.call("ping")
            try alice.sendRaw(Array(frame[70_000...]))
            let answer = try #require(try alice.nextMessage(withinMilliseconds: 60_000))
            #expect(answer["result"]?["recipients"] == 1)
            #expect(try sample("porchlight_large_input_bytes", server) == 0)
            service.pass(seconds: 20)
            _ = try alice.call("ping")
            let bob = try service.login("bob", "d1", ["messages": true])
            let message = try #require(try bob.next("messages")["messages"]?.array?.first)
            #expect(message["body"]?.string == body)
        }
    }

    @Test func `end with 4400 when they are slower`() throws {
        try withService { service in
            let (alice, server) = (try service.login("alice"), try service.appServer())
            try sendPart(alice, frame[..<70_000], all: 70_000, server)
            service.pass(seconds: 11)
            try sendPart(alice, frame[70_000..<130_000], all: 130_000, server)
            service.pass(seconds: 11)
            #expect(try alice.closing() == "4400 protocol_violation")
            #expect(try sample("porchlight_large_input_bytes", server) == 0)
        }
    }

    @Test func `end first come, first gone, when all of them use too much`() throws {
        try withService({ $0.connection.largeInputBytesMax = 300_000 }) { service in
            let server = try service.appServer()
            let slow = try (0..<3).map { try service.login("slow\($0)") }
            for (number, client) in slow.enumerated() {
                try sendPart(client, frame[..<80_000], all: 80_000 * (number + 1), server)
            }
            let fast = try service.login("fast")
            try fast.sendRaw(frame)
            let answer = try #require(try fast.nextMessage(withinMilliseconds: 60_000))
            #expect(answer["result"]?["recipients"] == 1)
            #expect(try slow[0].closing() == "4504 overloaded")
            #expect(try sample("porchlight_large_inputs_ended_total", server) == 1)
            for client in slow.dropFirst() {
                try client.sendRaw(Array(frame[80_000...]))
                let answer = try #require(try client.nextMessage(withinMilliseconds: 60_000))
                #expect(answer["result"]?["recipients"] == 1)
            }
        }
    }

    @Test func `end likewise over WebSocket and XMPP`() throws {
        try withXMPPService({ $0.connection.largeInputBytesMax = 1 << 18 }) { service in
            let server = try service.appServer()
            let web = try WebSocketClient(service)
            try web.login("web")
            try web.sendPart(of: send, 80_000)
            let xmpp = try service.showXMPP("xmpp")
            let text = String(body.prefix(30_000))
            try xmpp.send("<message to='bob@localhost' type='chat'><body>\(text)")
            try waitUntil("the service has both") {
                try sample("porchlight_large_input_bytes", server) > 165_000
            }
            let clients = try ["third", "fourth"].map { try service.login($0) }
            for (client, ended) in zip(clients, [1, 2]) {
                try client.sendRaw(Array(frame[..<100_000]))
                try waitUntil("\(ended) have ended") {
                    try sample("porchlight_large_inputs_ended_total", server) == ended
                }
                if ended == 1 {
                    #expect(try web.text().contains(#""code":4504,"reason":"overloaded""#))
                } else {
                    #expect(xmpp.untilEnd().contains("<resource-constraint "))
                }
            }
        }
    }
}
