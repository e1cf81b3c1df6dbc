import EventLoop
import Glibc
import Testing

@Suite struct EndTests {
    @Test func `the peer's FIN is reported once, and writing is still possible`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        client.finish()
        recorder.run(until: { !recorder.ends.isEmpty })
        let id = try #require(recorder.accepted.first)
        loop.startReading(id)
        recorder.settle()
        #expect(recorder.ends == [.endOfFile])
        #expect(loop.write(id, [3]) == .written)
        #expect(client.receive(1) == [3])
        loop.close()
    }

    @Test func `the peer's RST is reported once`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        recorder.run(until: { !recorder.accepted.isEmpty })
        client.reset()
        recorder.run(until: { !recorder.ends.isEmpty })
        recorder.settle()
        #expect(recorder.ends.count == 1)
        guard case .failed(let error) = recorder.ends.first else {
            Issue.record("a reset is not an orderly end")
            return
        }
        #expect(error.name == "ECONNRESET")
        loop.close()
    }

    /// libuv then reports the end without a buffer, and without another read.
    @Test func `the peer's RST is reported with its last bytes`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        recorder.run(until: { !recorder.accepted.isEmpty })
        client.send([1])
        client.reset()
        recorder.run(until: { !recorder.ends.isEmpty })
        recorder.settle()
        let id = try #require(recorder.accepted.first)
        #expect(recorder.received[id] == [1] && recorder.ends.count == 1)
        loop.close()
    }

    enum Place: CaseIterable { case accepted, received, ended, drained }

    @Test(arguments: Place.allCases)
    func `a stream can be closed inside every callback`(_ place: Place) throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        let reader: Thread<Int>?
        switch place {
        case .accepted:
            recorder.onAccepted = { loop.close($0) }
            reader = nil
        case .received:
            recorder.onReceived = { id, _ in loop.close(id) }
            client.send([1])
            reader = nil
        case .ended:
            recorder.onEnded = { loop.close($0) }
            client.finish()
            reader = nil
        case .drained:
            recorder.onAccepted = { _ = loop.write($0, WriteTests.large) }
            recorder.onDrained = { loop.close($0) }
            reader = Thread { client.receive(WriteTests.large.count).count }
        }
        recorder.run(until: { !recorder.closed.isEmpty })
        if let id = recorder.accepted.first { loop.close(id) }
        recorder.settle()
        #expect(recorder.closed == recorder.accepted)
        #expect(loop.streamCount == 0)
        loop.close()
        if let reader { #expect(reader.join() == WriteTests.large.count) }
    }

    @Test func `closing twice reports the end of the stream once`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        recorder.onAccepted = {
            loop.close($0)
            loop.close($0)
            loop.closeAfterWrites($0)
            loop.startReading($0)
        }
        recorder.run(until: { !recorder.closed.isEmpty })
        recorder.settle()
        #expect(recorder.closed.count == 1)
        withExtendedLifetime(client) { loop.close() }
    }
}
