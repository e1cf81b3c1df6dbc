import NIOCore
import NIOPosix
import PresenceGateway
import Testing

/// One connection, with a service that a test plays.
@Suite struct `A gateway's connection` {
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private func open(
        for use: ConnectionUse = .requests,
        _ adjust: (inout GatewayConnectionLimits) -> Void = { _ in }
    ) async throws -> (Peer, GatewayConnection) {
        let (peer, socket) = try Peer.pair()
        var limits = GatewayConnectionLimits()
        adjust(&limits)
        let connection = try await GatewayConnection.open(
            socket: socket, on: Self.group, for: use, limits)
        return (peer, connection)
    }

    @Test func `a call is framed, and answered with what came`() async throws {
        let (peer, connection) = try await open()
        async let answer = connection.call("query", ByteBuffer(string: #"{"type":1}"#))
        #expect(
            await peer.receive()
                == #"{"jsonrpc":"2.0","id":1,"method":"query","params":{"type":1}}"#)
        peer.send(#"{"jsonrpc":"2.0","id":1,"result":{"states":[]}}"#)
        #expect(try await answer == .result(ByteBuffer(string: #"{"states":[]}"#)))
        async let second = connection.call("ping")
        _ = await peer.receive()
        let error = #"{"code":416,"message":"m","data":{}}"#
        peer.send(#"{"jsonrpc":"2.0","id":2,"error":\#(error)}"#)
        #expect(try await second == .error(ByteBuffer(string: error)))
        connection.close()
    }

    @Test func `frames are found however they are cut`() async throws {
        let (peer, connection) = try await open(for: .longLived)
        var bytes: [UInt8] = [0, 0, 0, 0]
        for number in 0..<5 {
            let pad = String(repeating: "x", count: number * 40_000)
            bytes += Peer.frame(
                #"{"jsonrpc":"2.0","method":"events","params":{"n":\#(number),"p":"\#(pad)"}}"#)
        }
        let sending = besides { [bytes] in
            var rest = bytes[...]
            var size = 1
            while !rest.isEmpty {
                peer.send(bytes: Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                size = size * 3 / 2 + 1
            }
        }
        var iterator = connection.notifications.makeAsyncIterator()
        for number in 0..<5 {
            let next = try #require(try await iterator.next())
            #expect(String(buffer: next.params).hasPrefix("{\"n\":\(number),"))
            #expect(next.params.readableBytes == 14 + number * 40_000)
        }
        await sending.value
        connection.close()
    }

    @Test func `who is slow is not read from, and loses nothing`() async throws {
        let (peer, connection) = try await open(for: .longLived) {
            $0.notificationBytesMax = 10_000
        }
        let pad = String(repeating: "x", count: 1_000)
        func frame(_ number: Int) -> String {
            #"{"jsonrpc":"2.0","method":"feed","params":{"n":\#(number),"p":"\#(pad)"}}"#
        }
        // More than the kernel's buffers and the bound hold is not taken.
        var count = 0
        var rest: [UInt8] = []
        while rest.isEmpty, count < 5_000 {
            rest = peer.sendWhatIsTaken(Peer.frame(frame(count)))
            count += 1
        }
        #expect(count > 10 && count < 5_000)
        let sending = besides { [rest] in peer.send(bytes: rest) }
        var iterator = connection.notifications.makeAsyncIterator()
        for number in 0..<count {
            let next = try await iterator.next()
            #expect(next.map { String(buffer: $0.params).hasPrefix("{\"n\":\(number),") } == true)
        }
        await sending.value
        connection.close()
    }

    @Test func `a close is heard with its reason by everybody who waits`() async throws {
        // On a busy machine a keep-alive might be due.
        let (peer, connection) = try await open(for: .longLived) { $0.keepAliveInterval = nil }
        let answer = Task { try await connection.call("ping") }
        _ = await peer.receive()
        peer.notify(
            "close", #"{"code":4503,"reason":"shutting_down","message":"m\u00e9","retryAfter":2}"#)
        let notice = GatewayError.closed(
            CloseNotice(
                code: 4503, reason: "shutting_down", message: "mé", retryAfterSeconds: 2))
        await #expect(throws: notice) { try await answer.value }
        await #expect(throws: notice) { try await connection.call("ping") }
        var iterator = connection.notifications.makeAsyncIterator()
        await #expect(throws: notice) { try await iterator.next() }
        #expect(await peer.receive() == nil)
    }

    @Test func `a late answer is nobody's`() async throws {
        let (peer, connection) = try await open()
        await #expect(throws: GatewayError.timedOut) {
            try await connection.call("ping", within: .milliseconds(1))
        }
        _ = await peer.receive()
        #expect(await peer.receive() == nil)
        #expect(!connection.isOpen)
    }

    @Test func `a call that is cancelled ends the connection`() async throws {
        let (peer, connection) = try await open()
        let call = Task { try await connection.call("ping") }
        _ = await peer.receive()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(await peer.receive() == nil)
    }

    @Test(arguments: [
        "[]", "{}", #"{"jsonrpc":"2.0","id":9,"result":{}}"#, #"{"jsonrpc":"2.0","id":1,"x":{}}"#,
        #"{"jsonrpc":"2.0","method":"close","params":{}}"#,
    ])
    func `what the service does not send ends the connection`(body: String) async throws {
        let (peer, connection) = try await open()
        let answer = Task { try await connection.call("ping") }
        _ = await peer.receive()
        peer.send(body)
        await #expect(throws: GatewayError.notUnderstood) { try await answer.value }
        #expect(await peer.receive() == nil)
    }

    @Test func `a frame that is too long is not waited for`() async throws {
        let (peer, connection) = try await open()
        let answer = Task { try await connection.call("ping") }
        _ = await peer.receive()
        peer.send(bytes: [0x00, 0x10, 0x00, 0x01])
        await #expect(throws: GatewayError.notUnderstood) { try await answer.value }
    }

    @Test func `a request that is too long is not sent`() async throws {
        let (peer, connection) = try await open { $0.requestBytesMax = 60 }
        await #expect(throws: GatewayError.requestTooLarge(bytesMax: 60)) {
            try await connection.call("ping", ByteBuffer(string: #"{"text":"0123456789"}"#))
        }
        let answer = Task { try await connection.call("ping") }
        await peer.answer("{}")
        #expect(try await answer.value == .result(ByteBuffer(string: "{}")))
        connection.close()
    }

    @Test func `states that follow an answer are put into its list`() async throws {
        let (peer, connection) = try await open()
        async let answer = connection.callForStates("query", ByteBuffer(string: "{}"))
        await peer.answer(#"{"states":[0]}"#)
        #expect(await peer.receive()?.contains("ping") == true)
        peer.notify("events", #"{"events":[1,2],"sync":true}"#)
        peer.notify("events", #"{"events":[3],"sync":true}"#)
        peer.send(#"{"jsonrpc":"2.0","id":2,"result":{"time":1}}"#)
        #expect(try await answer == .result(ByteBuffer(string: #"{"states":[0,1,2,3]}"#)))
        connection.close()
    }

    @Test func `a long-lived connection says that it is there`() async throws {
        let (peer, connection) = try await open(for: .longLived) {
            $0.keepAliveInterval = .milliseconds(1)
        }
        #expect(await peer.receive() == "")
        #expect(await peer.receive() == "")
        connection.close()
    }
}
