import Connections
import EventLoop
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `A client that stops sending` {
    /// alice watches twenty others.
    private func service() -> SmallService {
        let service = SmallService {
            $0.engine.limits.statesPerFrameMax = 1
            $0.connection.listFramesPerTurn = 1
            $0.connection.outboxBytesMax = 500
        }
        let alice = service.login("alice", "first")
        let publishers = JSON.array((0..<20).map { .string("p\($0)") })
        _ = service.ask(
            "subscribe", ["type": 1, "expiry": 3_600, "publishers": publishers], on: alice)
        return service
    }

    private func logIn(_ service: SmallService, roomBytes: Int) -> StreamID {
        let id = service.connect(roomBytes: roomBytes)
        service.send("login", ["account": "alice", "device": "second", "sync": "all"], on: id)
        service.connections.streamEnded(id, .endOfFile)
        return id
    }

    @Test func `is sent its whole login list`() {
        let service = service()
        let id = logIn(service, roomBytes: 300)
        var messages: [JSON] = []
        for _ in 0..<200 where service.network.streams[id]?.isLingering == false {
            service.commit()
            // Slowly, but it does take it.
            service.network.monotonicMilliseconds += 1_000
            messages += service.messages(id, bytesMax: 300)
        }
        messages += service.messages(id)
        #expect(messages.count { $0["method"] == "events" } == 20)
        #expect(service.network.streams[id]?.isLingering == true)
    }

    @Test func `is told at the end of its list how many states there were`() {
        let service = service()
        let id = logIn(service, roomBytes: 1 << 20)
        for _ in 0..<40 { service.commit() }
        let messages = service.messages(id)
        #expect(messages.first?["result"]?["account"] == "alice")
        #expect(messages.count { $0["method"] == "events" } == 20)
        #expect(messages.last?["method"] == "synced")
        #expect(messages.last?["params"]?["count"] == 20)
        #expect(service.network.streams[id]?.isLingering == true, "and then it is closed")
        let sessions = service.connections.link.host.engine.currentStats
        #expect(sessions.sessionsConnected == 1)
    }

    /// With several loops, the response may come in the turn in which the stream ends.
    @Test func `is sent what it was to be sent last`() {
        let service = SmallService()
        let alice = service.login("alice")
        service.send("logout", on: alice)
        #expect(service.phase(of: alice) == .closing)
        service.connections.streamEnded(alice, .endOfFile)
        service.commit()
        #expect(service.messages(alice).map { $0["result"] } == [[:]])
        #expect(service.network.streams[alice]?.isLingering == true)
    }

    @Test func `and takes nothing is closed all the same`() {
        let service = service()
        let id = logIn(service, roomBytes: 100)
        service.commit()
        #expect(service.network.streams[id]?.isClosed == false)
        // As any client that reads nothing: what is the last has a time of its own.
        for _ in 0..<2 {
            service.network.monotonicMilliseconds += 16_000
            for _ in 0..<3 { service.commit() }
        }
        #expect(service.network.streams[id]?.isClosed == true)
    }
}

/// A client that sends what it has to say and then closes its half, as `nc` does.
@Suite struct `After a half-close` {
    /// A turn has room for one request: a unit is for going on with the connection.
    private func service() -> SmallService {
        SmallService {
            $0.connection.turn.work = 2
            $0.connection.turn.workOfConnection = 2
            $0.connection.turn.workOfLight = 0
        }
    }

    private func answers(_ id: StreamID, of service: SmallService) -> Int {
        var count = 0
        for _ in 0..<20 {
            service.commit()
            count += service.messages(id).count { $0["id"] != nil }
        }
        return count
    }

    @Test func `what waits for its turn is answered`() {
        let service = service()
        let id = service.login("anna")
        for _ in 0..<5 { service.send("subscriptions", on: id) }
        service.connections.streamEnded(id, .endOfFile)
        #expect(answers(id, of: service) == 5)
        #expect(service.network.streams[id]?.isLingering != false, "it is closed in the end")
    }

    @Test func `what waits behind a write is answered`() {
        let service = service()
        let id = service.login("anna")
        let berta: JSON = ["type": 1, "expiry": 3_600, "publishers": ["berta"]]
        service.send("subscribe", berta, on: id)
        for _ in 0..<3 { service.send("subscriptions", on: id) }
        service.connections.streamEnded(id, .endOfFile)
        #expect(answers(id, of: service) == 4)
    }

    @Test func `a login is answered, and what follows it`() {
        let service = service()
        let id = service.connect()
        service.send("login", ["account": "anna", "device": "d"], on: id)
        service.send("subscriptions", on: id)
        service.connections.streamEnded(id, .endOfFile)
        #expect(answers(id, of: service) == 2)
        #expect(service.connections.link.host.engine.currentStats.sessionsConnected == 0)
    }
}
