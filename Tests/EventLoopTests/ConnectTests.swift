import EventLoop
import Testing

@Suite struct ConnectTests {
    /// A recorder that also writes down which connections have come about.
    private func connecting(_ loop: Loop) -> Recorder {
        let recorder = Recorder(loop)
        recorder.onConnected = { loop.startReading($0) }
        return recorder
    }

    @Test func `both ends of a connection can talk`() throws {
        let loop = try Loop()
        let recorder = connecting(loop)
        let port = try loop.listenAnywhere()
        let client = try loop.connect(to: ListenAddress(host: "127.0.0.1", port: port))
        recorder.run(until: { recorder.connected == [client] && recorder.accepted.count == 1 })
        let server = try #require(recorder.accepted.first)
        #expect(loop.write(client, [1, 2]) == .written)
        #expect(loop.write(server, [3]) == .written)
        recorder.run(until: {
            recorder.received[server] == [1, 2] && recorder.received[client] == [3]
        })
        loop.close()
    }

    @Test func `bytes written before the connection is established arrive`() throws {
        let loop = try Loop()
        let recorder = connecting(loop)
        let port = try loop.listenAnywhere()
        let client = try loop.connect(to: ListenAddress(host: "127.0.0.1", port: port))
        loop.startReading(client)
        #expect(loop.write(client, [5, 6]) == .pending(bytes: 2))
        recorder.run(until: { recorder.received.values.contains([5, 6]) })
        #expect(recorder.connected == [client])
        loop.close()
    }

    @Test func `a stream to a port without a listener ends`() throws {
        let loop = try Loop()
        let recorder = connecting(loop)
        let port = try loop.listenAnywhere()
        loop.stopListening()
        let id = try loop.connect(to: ListenAddress(host: "127.0.0.1", port: port))
        recorder.onEnded = { loop.close($0) }
        recorder.run(until: { recorder.closed == [id] })
        guard case .failed(let error) = recorder.ends.first else {
            Issue.record("no failure was told")
            return
        }
        #expect(error.name == "ECONNREFUSED")
        #expect(recorder.ends.count == 1)
        #expect(recorder.connected.isEmpty)
        loop.close()
    }

    @Test func `a stream closed before it is connected reports only that`() throws {
        let loop = try Loop()
        let recorder = connecting(loop)
        let port = try loop.listenAnywhere()
        let id = try loop.connect(to: ListenAddress(host: "127.0.0.1", port: port))
        loop.close(id)
        recorder.run(until: { recorder.closed.contains(id) })
        recorder.settle()
        #expect(recorder.connected.isEmpty)
        #expect(recorder.ends.filter { $0 != .endOfFile }.isEmpty)
        loop.close()
    }

    @Test func `a connection comes from the address it was told`() throws {
        let loop = try Loop()
        let recorder = connecting(loop)
        let port = try loop.listenAnywhere()
        let target = ListenAddress(host: "127.0.0.1", port: port)
        _ = try loop.connect(to: target, from: "127.0.0.7")
        recorder.run(until: { !recorder.connected.isEmpty && !recorder.accepted.isEmpty })
        let server = try #require(recorder.accepted.first)
        #expect(loop.peerAddress(of: server)?.hasPrefix("127.0.0.7:") == true)
        #expect(throws: UVError.self) { _ = try loop.connect(to: target, from: "192.0.2.1") }
        loop.close()
    }

    @Test func `an invalid address is rejected`() throws {
        let loop = try Loop()
        #expect(throws: UVError.self) {
            _ = try loop.connect(to: ListenAddress(host: "localhost", port: 1))
        }
        #expect(loop.streamCount == 0)
        loop.close()
    }

    @Test func `a reset reaches the peer as one`() throws {
        let loop = try Loop()
        let recorder = connecting(loop)
        let port = try loop.listenAnywhere()
        let client = try loop.connect(to: ListenAddress(host: "127.0.0.1", port: port))
        recorder.run(until: { !recorder.connected.isEmpty && !recorder.accepted.isEmpty })
        loop.reset(client)
        loop.reset(client)
        recorder.run(until: { recorder.closed == [client] && !recorder.ends.isEmpty })
        guard case .failed(let error) = recorder.ends.first else {
            Issue.record("no failure was told")
            return
        }
        #expect(error.name == "ECONNRESET")
        loop.close()
    }
}
