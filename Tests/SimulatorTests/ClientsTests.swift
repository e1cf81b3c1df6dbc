import Connections
import EventLoop
import Logging
import PresenceCore
import Testing

@testable import PresenceServer

/// The clients of a loop, without an engine host.
@Suite struct `Clients of a loop` {
    private let network = SimulatedNetwork()

    private func clients() -> Clients {
        var configuration = Configuration()
        var listening = XMPPListening(domains: [Array("home.example".utf8)])
        listening.allowsPlaintext = true
        configuration.xmpp = listening
        return Clients(
            configuration, number: .only,
            clock: ServiceClock(
                mono: network.monotonicMilliseconds, wall: network.wallMilliseconds),
            transport: network, heard: HeardTable(),
            admission: Admission(counts: nil, loop: 0, seed: 1), logger: Logger(label: "test"))
    }

    /// Whether the engine host is told that a connection has ended that has not logged in.
    private func isLossReported(on listener: ListenerKind) -> Bool {
        var clients = clients()
        let slot = clients.open(network.open(roomBytes: 1 << 20), on: listener)
        clients.listenForLogin(of: slot)
        clients.end(slot, .lost, .lost, .atOnce)
        clients.free(slot)
        clients.checkInvariants()
        return clients.inbound.items.contains { item in
            if case .lost = item { true } else { false }
        }
    }

    @Test func `are reported as lost before the login if they may have proved an account`() {
        // The engine host keeps what an XMPP client has proved until it binds or is lost.
        #expect(isLossReported(on: .xmpp))
        #expect(!isLossReported(on: .native))
    }

    @Test func `give up their input when their connection ends`() {
        var clients = clients()
        let slot = clients.open(network.open(roomBytes: 1 << 20), on: .native)
        clients.listenForLogin(of: slot)
        let bytes: [UInt8] = [0, 0, 1, 0, 1, 2, 3]
        var offset = 0
        let step = clients.readNext(bytes.span.bytes, from: &offset, in: slot)
        guard case .needMore = step else {
            Issue.record("a part of a frame is not a message")
            return
        }
        #expect(clients.bytesBuffered(slot) > 0)
        clients.close(slot, .loginTimeout)
        #expect(clients.bytesBuffered(slot) == 0)
    }

    @Test func `take 32 bytes for their protocol`() {
        #expect(MemoryLayout<ClientProtocol>.stride == 32)
    }
}
