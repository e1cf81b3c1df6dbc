import EventLoop
import Testing

@Suite struct ListenTests {
    @Test func `the bound address is returned`() throws {
        let loop = try Loop()
        let address = try loop.listen(host: "127.0.0.1", port: 0)
        #expect(address.host == "127.0.0.1")
        #expect(address.port != 0)
        #expect(address.description == "127.0.0.1:\(address.port)")
        loop.close()
    }

    @Test func `a connection before startListening is rejected immediately`() throws {
        let loop = try Loop()
        let address = try loop.bind(host: "127.0.0.1", port: 0)
        #expect(throws: TestClientError.self) { try Client(port: address.port) }
        try loop.startListening()
        let client = try Client(port: address.port)
        withExtendedLifetime(client) { loop.close() }
    }

    @Test func `an IPv6 address is written in brackets`() {
        #expect(ListenAddress(host: "::1", port: 5_000).description == "[::1]:5000")
    }

    @Test func `a port in use is named as such`() throws {
        let first = try Loop()
        let second = try Loop()
        let port = try first.listenAnywhere()
        let error = #expect(throws: UVError.self) {
            try second.listen(host: "127.0.0.1", port: port)
        }
        #expect(error?.name == "EADDRINUSE")
        #expect(error?.description == "bind: address already in use (EADDRINUSE)")
        // A failure leaves nothing behind: the loop can listen elsewhere, and closes.
        _ = try second.listenAnywhere()
        first.close()
        second.close()
    }

    @Test(arguments: ["localhost", "", "127.0.0.1.1", "::g", "127.0.0.1\n"])
    func `a host that is not a numeric address is rejected`(_ host: String) throws {
        let loop = try Loop()
        let error = #expect(throws: UVError.self) { try loop.listen(host: host, port: 0) }
        #expect(error?.name == "EINVAL")
        loop.close()
    }

    @Test func `connections of several listeners carry the number of theirs`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let ports = try (0..<3).map { _ in try loop.bind(host: "127.0.0.1", port: 0).port }
        try loop.startListening()
        var clients: [Client] = []
        for number in [2, 0, 1, 2] {
            clients.append(try Client(port: ports[number]))
            recorder.run(until: { recorder.accepted.count == clients.count })
        }
        #expect(recorder.listeners == [2, 0, 1, 2])
        loop.stopListening()
        for port in ports {
            #expect(throws: TestClientError.self) { try Client(port: port) }
        }
        loop.close()
    }

    @Test func `stopListening keeps accepted connections`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let port = try loop.listenAnywhere()
        let client = try Client(port: port)
        recorder.onAccepted = {
            loop.startReading($0)
            loop.stopListening()
            loop.stopListening()
        }
        recorder.run(until: { recorder.accepted.count == 1 })
        #expect(throws: TestClientError.self) { try Client(port: port) }
        client.send([4])
        recorder.run(until: { recorder.received.values.first == [4] })
        _ = try loop.listenAnywhere()
        loop.close()
    }
}
