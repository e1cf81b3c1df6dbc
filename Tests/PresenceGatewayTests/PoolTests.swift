import NIOCore
import NIOPosix
import PresenceGateway
import Synchronization
import Testing

/// The pool, with services that a test plays.
@Suite(.timeLimit(.minutes(1))) struct `A gateway` {
    /// The peers of the connections that were opened, in order.
    private final class Peers: Sendable {
        private let all = Mutex<[Peer]>([])

        func connect() throws -> CInt {
            let (peer, socket) = try Peer.pair()
            all.withLock { $0.append(peer) }
            return socket
        }

        var count: Int { all.withLock { $0.count } }
        subscript(index: Int) -> Peer { all.withLock { $0[index] } }
    }

    private let peers = Peers()

    private func gateway(_ adjust: (inout GatewayLimits) -> Void = { _ in }) -> Gateway {
        var limits = GatewayLimits()
        adjust(&limits)
        return Gateway(on: `A gateway's connection`.group, limits) { [peers] in
            try peers.connect()
        }
    }

    private func until(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test func `a connection is used again`() async throws {
        let gateway = gateway()
        for _ in 0..<3 {
            async let answer = gateway.call("ping")
            await until { peers.count == 1 }
            await peers[0].answer("{}")
            _ = try await answer
        }
        #expect(peers.count == 1)
        #expect(gateway.counters.idle == 1 && gateway.counters.busy == 0)
        gateway.close()
        #expect(await peers[0].receive() == nil)
        await #expect(throws: GatewayError.ended) { try await gateway.call("ping") }
    }

    @Test func `beyond its connections requests wait, and beyond that are refused`() async throws {
        let gateway = gateway {
            $0.connectionsMax = 1
            $0.waitersMax = 1
        }
        async let first = gateway.call("first")
        await until { peers.count == 1 }
        async let second = gateway.call("second")
        await until { gateway.counters.waiting == 1 }
        await #expect(throws: GatewayError.overloaded) { try await gateway.call("third") }
        await peers[0].answer("{\"n\":1}")
        #expect(try await first == .result(ByteBuffer(string: "{\"n\":1}")))
        await peers[0].answer("{\"n\":2}")
        #expect(try await second == .result(ByteBuffer(string: "{\"n\":2}")))
        #expect(gateway.counters.refused == 1 && gateway.counters.opened == 1)
        gateway.close()
    }

    @Test func `who waits gets a new connection for one that was lost`() async throws {
        let gateway = gateway { $0.connectionsMax = 1 }
        let first = Task { try await gateway.call("first") }
        await until { peers.count == 1 }
        async let second = gateway.call("second")
        await until { gateway.counters.waiting == 1 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await until { peers.count == 2 }
        await peers[1].answer("{}")
        #expect(try await second == .result(ByteBuffer(string: "{}")))
        #expect(gateway.counters.busy == 0)
        gateway.close()
    }

    @Test func `who waits too long is refused`() async throws {
        let gateway = gateway {
            $0.connectionsMax = 1
            $0.requestTime = .milliseconds(20)
        }
        let first = Task { try await gateway.call("first") }
        await until { gateway.counters.busy == 1 }
        await #expect(throws: GatewayError.self) { try await gateway.call("second") }
        await #expect(throws: GatewayError.timedOut) { try await first.value }
        #expect(gateway.counters.busy == 0 && gateway.counters.timedOut >= 1)
        gateway.close()
    }

    @Test func `a connection that nobody needs is closed`() async throws {
        let gateway = gateway { $0.idleTime = .milliseconds(4) }
        async let answer = gateway.call("ping")
        await until { peers.count == 1 }
        await peers[0].answer("{}")
        _ = try await answer
        #expect(await peers[0].receive() == nil)
        await until { gateway.counters.idle == 0 }
        gateway.close()
    }

    @Test func `without a service there is no answer`() async throws {
        let gateway = Gateway(on: `A gateway's connection`.group) { throw GatewayError.overloaded }
        await #expect(throws: GatewayError.ended) { try await gateway.call("ping") }
        #expect(gateway.counters.busy == 0)
        gateway.close()
    }
}
