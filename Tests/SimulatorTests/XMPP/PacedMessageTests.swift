import EventLoop
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

/// Messages of XMPP clients above the rate limit of their account, which wait.
@Suite struct `Messages that wait for a rate limit` {
    private let service = SmallService { configuration in
        SmallXMPPClient.allow(in: &configuration)
        configuration.engine.publishPace = Pace(perSecond: 1, burst: 1)
        configuration.connection.largeInputBytesMax = 150_000
    }
    private static let text = String(repeating: "x", count: 100_000)
    private static let message =
        "<message to='bob@home.example' type='chat'><body>\(text)</body></message>"

    private var bytes: Int { service.connections.clients.largeInputs.bytes }

    private func send(_ count: Int, on client: SmallXMPPClient) {
        for _ in 0..<count {
            client.send(Self.message)
            for _ in 0..<3 { service.commit() }
        }
    }

    private func carryOut() {
        service.pass(milliseconds: 2_000)
        for _ in 0..<3 { service.commit() }
    }

    @Test func `count as what is incomplete does until they are carried out`() {
        let alice = SmallXMPPClient(of: service, sending: "<presence/>")
        service.pass(milliseconds: 2_000)
        send(2, on: alice)
        #expect(bytes == Self.text.utf8.count)
        carryOut()
        #expect(bytes == 0)
        #expect(!alice.said().contains("<error"))
        let backend = service.connectAppServer()
        #expect(service.ask("stats", on: backend)["messagesWaiting"]?.integer == 2)
    }

    @Test func `end the connection of one if all use too much`() {
        let clients = (0..<2).map { _ in
            SmallXMPPClient(of: service, sending: "<presence/>")
        }
        service.pass(milliseconds: 2_000)
        send(2, on: clients[0])
        #expect(service.connections.clients.counters.largeInputsEnded == 0)
        send(1, on: clients[1])
        #expect(service.connections.clients.counters.largeInputsEnded == 1)
        #expect(bytes == Self.text.utf8.count)
        let ended = clients.filter { $0.said().contains("<resource-constraint ") }
        #expect(ended.count == 1)
        carryOut()
        #expect(bytes == 0)
    }
}
