import EventLoop
import Testing

@Suite struct WriteTests {
    /// More than the socket buffers of both ends take (tcp_wmem and tcp_rmem end at a few MiB).
    static let large = (0..<32 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &>> 3) }

    @Test func `a large write goes pending and drains once`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        recorder.run(until: { !recorder.accepted.isEmpty })
        let id = try #require(recorder.accepted.first)
        guard case .pending(let bytes) = loop.write(id, Self.large) else {
            Issue.record("32 MiB fitted into the socket")
            return
        }
        #expect(bytes > 0)
        #expect(bytes < Self.large.count)
        #expect(loop.bytesPending(id) > 0)
        let reader = Thread { client.receive(WriteTests.large.count) == WriteTests.large }
        recorder.run(until: { !recorder.drained.isEmpty })
        #expect(reader.join())
        #expect(loop.bytesPending(id) == 0)
        #expect(loop.write(id, [1]) == .written)
        recorder.settle()
        #expect(recorder.drained == [id])
        #expect(client.receive(1) == [1])
        loop.close()
    }

    // Linux would keep a few MiB.
    @Test func `the kernel keeps little of what is not read`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        recorder.run(until: { !recorder.accepted.isEmpty })
        let id = try #require(recorder.accepted.first)
        _ = loop.write(id, Self.large)
        for _ in 0..<100 { recorder.settle() }
        // Half of it may be in the client's own buffer.
        #expect(Self.large.count - loop.bytesPending(id) < 8 * Loop.kernelOutputBytes)
        withExtendedLifetime(client) { loop.close() }
    }

    @Test func `a second write while one is pending is a programmer's error`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try Loop()
            let recorder = Recorder(loop)
            let client = try Client(port: try loop.listenAnywhere())
            recorder.run(until: { !recorder.accepted.isEmpty })
            _ = loop.write(recorder.accepted[0], WriteTests.large)
            _ = loop.write(recorder.accepted[0], [1])
            client.close()
        }
    }

    @Test func `an empty write is written`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        recorder.run(until: { !recorder.accepted.isEmpty })
        #expect(loop.write(try #require(recorder.accepted.first), []) == .written)
        withExtendedLifetime(client) { loop.close() }
    }

    @Test func `writing to a reset connection fails and does not kill the process`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        recorder.onAccepted = { _ in }
        let client = try Client(port: try loop.listenAnywhere())
        recorder.run(until: { !recorder.accepted.isEmpty })
        let id = try #require(recorder.accepted.first)
        client.reset()
        var names: [String] = []
        for _ in 0..<2 {
            if case .failed(let error) = loop.write(id, [1]) { names.append(error.name) }
        }
        #expect(names == ["ECONNRESET", "EPIPE"])
        loop.startReading(id)
        recorder.settle()
        #expect(recorder.ends.isEmpty, "the end was told by write already")
        loop.close()
        #expect(recorder.closed == [id])
    }

    @Test func `a pending remainder that fails is reported once as the end`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        recorder.onAccepted = { _ in }
        let client = try Client(port: try loop.listenAnywhere())
        recorder.run(until: { !recorder.accepted.isEmpty })
        let id = try #require(recorder.accepted.first)
        guard case .pending = loop.write(id, Self.large) else {
            Issue.record("32 MiB fitted into the socket")
            return
        }
        client.reset()
        recorder.run(until: { !recorder.ends.isEmpty })
        recorder.settle()
        #expect(recorder.ends.count == 1)
        #expect(recorder.drained.isEmpty)
        loop.close()
        #expect(recorder.closed == [id])
    }
}
