import EventLoop
import Testing

@Suite struct EchoTests {
    @Test func `what a client sends comes back`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        let message = Array("is anybody home?".utf8)
        client.send(message)
        var outcomes: [WriteOutcome] = []
        recorder.onReceived = { outcomes.append(loop.write($0, $1)) }
        recorder.run(until: { !outcomes.isEmpty })
        #expect(outcomes == [.written])
        #expect(client.receive(message.count) == message)
        loop.close()
    }

    @Test func `bytes wait in the kernel until reading starts`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        recorder.onAccepted = { _ in }
        let client = try Client(port: try loop.listenAnywhere())
        client.send([7])
        recorder.settle()
        #expect(recorder.accepted.count == 1)
        #expect(recorder.received.isEmpty)
        let id = try #require(recorder.accepted.first)
        loop.startReading(id)
        recorder.run(until: { recorder.received[id] == [7] })
        loop.close()
    }

    @Test func `stopReading holds bytes back, startReading lets them come`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        client.send([1])
        recorder.onReceived = { id, _ in loop.stopReading(id) }
        recorder.run(until: { recorder.received.count == 1 })
        let id = try #require(recorder.accepted.first)
        client.send([2])
        recorder.settle()
        #expect(recorder.received[id] == [1])
        loop.startReading(id)
        recorder.run(until: { recorder.received[id] == [1, 2] })
        loop.close()
    }

    @Test func `the peer's address is the client's`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let client = try Client(port: try loop.listenAnywhere())
        recorder.run(until: { !recorder.accepted.isEmpty })
        let id = try #require(recorder.accepted.first)
        #expect(loop.peerAddress(of: id) == "127.0.0.1:\(client.localPort)")
        loop.close()
    }

    @Test func `an id of an earlier connection of the slot is ignored`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let port = try loop.listenAnywhere()
        let first = try Client(port: port)
        recorder.run(until: { recorder.accepted.count == 1 })
        let old = try #require(recorder.accepted.first)
        loop.close(old)
        recorder.run(until: { recorder.closed == [old] })
        let second = try Client(port: port)
        recorder.run(until: { recorder.accepted.count == 2 })
        let new = try #require(recorder.accepted.last)
        #expect(new.slot == old.slot)
        #expect(new != old)
        loop.stopReading(old)
        loop.close(old)
        loop.closeAfterWrites(old)
        #expect(loop.peerAddress(of: old) == nil)
        #expect(loop.bytesPending(old) == 0)
        guard case .failed = loop.write(old, [9]) else {
            Issue.record("a stale id could be written to")
            return
        }
        second.send([5])
        recorder.run(until: { recorder.received[new] == [5] })
        #expect(recorder.closed == [old])
        withExtendedLifetime(first) { loop.close() }
    }

    @Test func `an id that was never assigned is ignored`() throws {
        let loop = try Loop()
        let id = StreamID(slot: 40, generation: 1)
        loop.startReading(id)
        loop.close(id)
        #expect(loop.bytesPending(id) == 0)
        loop.close()
    }

    @Test func `a closed loop is released with its handler`() throws {
        weak var loop: Loop?
        weak var handler: Recorder?
        do {
            let strong = try Loop()
            let recorder = Recorder(strong)
            loop = strong
            handler = recorder
            recorder.settle()
            strong.close()
        }
        #expect(loop == nil)
        #expect(handler == nil)
    }
}
