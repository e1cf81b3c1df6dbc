import EventLoop
import Glibc
import Testing

/// The last words arrive, whatever the peer is sending meanwhile.
@Suite struct LingerTests {
    static let lastWords = Array("4503 shutting_down".utf8)

    /// A connection whose peer has sent something that nobody reads.
    static func connectWithUnreadInput(_ recorder: Recorder) throws -> (Client, StreamID) {
        let client = try Client(port: try recorder.loop.listenAnywhere())
        #expect(client.sendWhatFits([UInt8](repeating: 1, count: 100_000)) > 0)
        recorder.onAccepted = { _ in }
        recorder.run(until: { !recorder.accepted.isEmpty })
        return (client, try #require(recorder.accepted.first))
    }

    @Test func `the last frame arrives despite unread input`() throws {
        let loop = try Loop(lingerMilliseconds: 60_000)
        let recorder = Recorder(loop)
        let (client, id) = try Self.connectWithUnreadInput(recorder)
        #expect(loop.write(id, Self.lastWords) == .written)
        loop.closeAfterWrites(id)
        let reader = Thread {
            let (bytes, ending) = client.receiveToEnd()
            client.close()
            return bytes == LingerTests.lastWords && ending == .endOfFile
        }
        recorder.run(until: { recorder.closed == [id] })
        #expect(reader.join())
        #expect(recorder.received.isEmpty, "a stream that lingers has nothing to tell")
        #expect(recorder.ends.isEmpty)
        loop.close()
    }

    @Test func `a plain close with unread input resets the connection`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let (client, id) = try Self.connectWithUnreadInput(recorder)
        #expect(loop.write(id, Self.lastWords) == .written)
        loop.close(id)
        recorder.run(until: { recorder.closed == [id] })
        #expect(client.receiveToEnd().ending == .failed(ECONNRESET))
        loop.close()
    }

    @Test func `a pending remainder arrives before the end`() throws {
        let loop = try Loop(lingerMilliseconds: 60_000)
        let recorder = Recorder(loop)
        let (client, id) = try Self.connectWithUnreadInput(recorder)
        guard case .pending = loop.write(id, WriteTests.large) else {
            Issue.record("32 MiB fitted into the socket")
            return
        }
        loop.closeAfterWrites(id)
        let reader = Thread {
            let (bytes, ending) = client.receiveToEnd()
            client.close()
            return bytes == WriteTests.large && ending == .endOfFile
        }
        recorder.run(until: { recorder.closed == [id] })
        #expect(reader.join())
        #expect(recorder.drained.isEmpty)
        loop.close()
    }

    @Test func `a peer that has finished already is not waited for`() throws {
        let loop = try Loop(lingerMilliseconds: 600_000)
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        client.finish()
        recorder.onEnded = {
            _ = loop.write($0, LingerTests.lastWords)
            loop.closeAfterWrites($0)
        }
        recorder.run(until: { recorder.closed.count == 1 })
        #expect(client.receiveToEnd() == (Self.lastWords, .endOfFile))
        loop.close()
    }

    @Test func `a peer that never answers is waited for until the deadline only`() throws {
        let loop = try Loop(lingerMilliseconds: 20)
        let recorder = Recorder(loop)
        let port = try loop.listenAnywhere()
        let clients = try (0..<5).map { _ in try Client(port: port) }
        recorder.run(until: { recorder.accepted.count == 5 })
        let start = loop.monotonicMilliseconds
        for id in recorder.accepted { loop.closeAfterWrites(id) }
        recorder.run(until: { recorder.closed.count == 5 })
        #expect(loop.monotonicMilliseconds >= start + 20)
        #expect(Set(recorder.closed) == Set(recorder.accepted))
        withExtendedLifetime(clients) { loop.close() }
    }

    @Test func `a close ends the wait for the peer`() throws {
        let loop = try Loop(lingerMilliseconds: 600_000)
        let recorder = Recorder(loop)
        let port = try loop.listenAnywhere()
        let clients = try (0..<5).map { _ in try Client(port: port) }
        recorder.run(until: { recorder.accepted.count == 5 })
        for id in recorder.accepted { loop.closeAfterWrites(id) }
        loop.close(recorder.accepted[2])
        recorder.run(until: { !recorder.closed.isEmpty })
        #expect(recorder.closed == [recorder.accepted[2]])
        withExtendedLifetime(clients) { loop.close() }
    }

    @Test func `a peer that resets is not waited for`() throws {
        let loop = try Loop(lingerMilliseconds: 600_000)
        let recorder = Recorder(loop)
        let (client, id) = try Self.connectWithUnreadInput(recorder)
        loop.closeAfterWrites(id)
        client.reset()
        recorder.run(until: { recorder.closed == [id] })
        loop.close()
    }
}
