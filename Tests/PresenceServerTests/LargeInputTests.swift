import Connections
import Containers
import PresenceClient
import Testing

@testable import PresenceServer

@Suite struct `Large messages that are not complete` {
    private let free = LargeInputs.bytesFree
    private let owner = LargeInputs.Owner.appServer

    @Test func `count while they use more than a small one`() {
        var inputs = LargeInputs()
        inputs.note(1, of: owner, bytes: free)
        #expect(inputs.count == 0 && inputs.bytes == 0)
        inputs.note(1, of: owner, bytes: free + 1)
        inputs.note(2, of: owner, bytes: free + 10)
        inputs.note(1, of: owner, bytes: free + 5)
        #expect(inputs.count == 2 && inputs.bytes == 2 * free + 15)
        inputs.note(2, of: owner, bytes: 0)
        inputs.remove(3)
        #expect(inputs.count == 1 && inputs.bytes == free + 5)
        inputs.checkInvariants()
        inputs.remove(1)
        #expect(inputs.count == 0 && inputs.bytes == 0)
        inputs.checkInvariants()
    }

    @Test func `end in the order in which they have grown, as long as there are several`() {
        var inputs = LargeInputs()
        for slot in [5, 3, 4] { inputs.note(slot, of: owner, bytes: free * 2) }
        #expect(inputs.nextToEnd(bytesMax: free * 6) == nil)
        inputs.note(5, of: owner, bytes: free * 3)
        #expect(inputs.nextToEnd(bytesMax: free * 6) == 3)
        inputs.remove(3)
        #expect(inputs.nextToEnd(bytesMax: free * 3) == 4)
        inputs.remove(4)
        #expect(inputs.nextToEnd(bytesMax: 0) == nil)
        inputs.checkInvariants()
    }

    @Test func `end first where there are most, of a network and then of an account`() throws {
        var inputs = LargeInputs()
        var networks = ConnectionsPerNetwork(seed: 7)
        var entries: [ConnectionsPerNetwork.Entry] = []
        for last in [1, 2, 3] as [UInt8] {
            let entry = networks.enter(ClientNetwork(address: [192, 0, 2, last]), max: nil)
            entries.append(try #require(entry))
        }
        // An honest client, which is the slowest of all; an app server; a network with two
        // accounts; and another one with two messages.
        let begun: [(slot: Int, LargeInputs.Owner)] = [
            (1, .client(entries[0], account: 1)), (2, .appServer),
            (3, .client(entries[1], account: 2)), (4, .client(entries[1], account: 3)),
            (5, .client(entries[1], account: 3)), (6, .client(entries[2], account: 4)),
            (7, .client(entries[2], account: 4)),
        ]
        for (slot, owner) in begun { inputs.note(slot, of: owner, bytes: free * 2) }
        var ended: [Int] = []
        while let next = inputs.nextToEnd(bytesMax: 0) {
            ended.append(next)
            inputs.remove(next)
            inputs.checkInvariants()
        }
        #expect(ended == [4, 6, 3, 1, 5, 7])
        #expect(inputs.count == 1)
    }

    @Test func `have another period for each 64 KiB`() {
        var inputs = LargeInputs()
        let arrivals = [free, free + 1, free + 1, 2 * free, 2 * free + 1]
        let outcomes = arrivals.map { bytes in
            inputs.note(1, of: owner, bytes: bytes)
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

    @Test func `end when all of them use too much, the one that waits longest first`() throws {
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

    @Test func `of one account end before the one of another that is slower`() throws {
        try withService({ $0.connection.largeInputBytesMax = 300_000 }) { service in
            let server = try service.appServer()
            let honest = try service.login("honest")
            try sendPart(honest, frame[..<80_000], all: 80_000, server)
            var hostile: [Client] = []
            for number in 1...8 {
                hostile.append(try service.login("hostile", "d\(number)"))
                try hostile[number - 1].sendRaw(Array(frame[..<80_000]))
                try waitUntil("\(number) have arrived") {
                    try sample("porchlight_large_inputs_ended_total", server) >= number - 2
                        && sample("porchlight_large_input_bytes", server) == 80_000
                            * min(number + 1, 3)
                }
            }
            try honest.sendRaw(Array(frame[80_000...]))
            let answer = try #require(try honest.nextMessage(withinMilliseconds: 60_000))
            #expect(answer["result"]?["recipients"] == 1)
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
