import EventLoop
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `A client that is silent` {
    private func isClosed(_ service: SmallService, _ id: StreamID) -> Bool {
        service.network.streams[id]?.isLingering != false
    }

    @Test func `is closed after one and a half heartbeats`() {
        let service = SmallService { $0.engine.heartbeatSeconds = 30 }
        let phone = service.login("bob")
        service.pass(milliseconds: 30_000)
        service.connections.receive([0, 0, 0, 0].span.bytes, from: phone)
        service.pass(milliseconds: 44_999)
        #expect(!isClosed(service, phone))
        service.pass(milliseconds: 2)
        #expect(isClosed(service, phone))
        let close = service.messages(phone).last
        #expect(close?["params"]?["code"] == 4408)
        let backend = service.connectAppServer()
        let sessions = service.ask("sessions", ["account": "bob"], on: backend)["sessions"]?.array
        let start = service.network.wallMilliseconds - 44_999 - 2
        #expect(sessions?.first?["lastHeard"]?.integer == start, "\(sessions ?? [])")
        #expect(sessions?.first?["connection"] == "grace")
    }

    @Test func `is not judged while its request waits for the store`() {
        let service = SmallService { $0.engine.heartbeatSeconds = 30 }
        let phone = service.login("bob")
        let watch: JSON = ["type": 1, "expiry": 3_600, "publishers": ["carol"]]
        service.send("subscribe", watch, on: phone)
        // It is not read meanwhile: it may have sent.
        service.pass(milliseconds: 100_000)
        #expect(!isClosed(service, phone))
        service.commit()
        // What it has sent meanwhile is read now. If there is nothing, it is gone.
        service.pass(milliseconds: 900)
        #expect(!isClosed(service, phone))
        service.pass(milliseconds: 1_200)
        #expect(isClosed(service, phone))
    }

    @Test func `is told of with the time at which it was last heard`() {
        let service = SmallService { $0.engine.heartbeatSeconds = 30 }
        let phone = service.login("bob")
        let heard = service.network.wallMilliseconds
        service.pass(milliseconds: 20_000)
        let backend = service.connectAppServer()
        let sessions = service.ask("sessions", ["account": "bob"], on: backend)["sessions"]?.array
        #expect(sessions?.first?["lastHeard"]?.integer == heard)
        service.connections.receive([0, 0, 0, 0].span.bytes, from: phone)
        let later = service.ask("sessions", ["account": "bob"], on: backend)["sessions"]?.array
        #expect(later?.first?["lastHeard"]?.integer == heard + 20_000)
        let why = service.ask(
            "why", ["subscriber": "bob", "publisher": "x", "type": 1], on: backend)
        let session = why["subscriber"]?["sessions"]?.array?.first
        #expect(session?["lastHeard"]?.integer == heard + 20_000)
    }
}
