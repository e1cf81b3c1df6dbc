import NIOCore
import NIOPosix
import Testing

@testable import PresenceGateway

/// The pool with real sockets, each led to a peer that a test plays. Which request gets which
/// connection is tested with `Pool`.
///
/// The tests wait for peers, frames and ends of streams. A timer that must fire has a millisecond,
/// and what is expected holds however late it fires; one that must not fire has an hour, since
/// tests that block can keep a task from its thread for seconds.
@Suite(.timeLimit(.minutes(10))) struct `A gateway` {
    /// The peers of the connections that are opened, in order.
    private let peers: AsyncStream<Peer>.Iterator
    private let connected: AsyncStream<Peer>.Continuation

    init() {
        let (stream, continuation) = AsyncStream<Peer>.makeStream()
        peers = stream.makeAsyncIterator()
        connected = continuation
    }

    private func gateway(_ adjust: (inout GatewayLimits) -> Void = { _ in }) -> Gateway {
        var limits = GatewayLimits()
        limits.requestTime = .hours(1)
        limits.idleTime = .hours(1)
        adjust(&limits)
        return Gateway(on: `A gateway's connection`.group, limits) { [connected] in
            let (peer, socket) = try Peer.pair()
            connected.yield(peer)
            return socket
        }
    }

    /// The peer of the next connection.
    private func peer() async throws -> Peer {
        var peers = peers
        return try #require(await peers.next())
    }

    @Test func `a connection is used again`() async throws {
        let gateway = gateway()
        async let first = gateway.call("ping")
        let peer = try await peer()
        await peer.answer(#"{"n":0}"#)
        #expect(try await first == .result(ByteBuffer(string: #"{"n":0}"#)))
        for number in 1..<3 {
            async let next = gateway.call("ping")
            await peer.answer(#"{"n":\#(number)}"#)
            #expect(try await next == .result(ByteBuffer(string: #"{"n":\#(number)}"#)))
        }
        #expect(gateway.counters.opened == 1)
        #expect(gateway.counters.idle == 1 && gateway.counters.busy == 0)
        gateway.close()
        #expect(await peer.receive() == nil)
        await #expect(throws: GatewayError.ended) { try await gateway.call("ping") }
    }

    @Test func `a request waits for the connection of another`() async throws {
        let gateway = gateway { $0.connectionsMax = 1 }
        async let first = gateway.call("first")
        let peer = try await peer()
        #expect(await peer.receive()?.contains("first") == true)
        let second = Task.immediate { try await gateway.call("second") }
        #expect(gateway.counters.waiting == 1)
        peer.send(#"{"jsonrpc":"2.0","id":1,"result":{"n":1}}"#)
        #expect(try await first == .result(ByteBuffer(string: #"{"n":1}"#)))
        await peer.answer(#"{"n":2}"#)
        #expect(try await second.value == .result(ByteBuffer(string: #"{"n":2}"#)))
        #expect(gateway.counters.opened == 1)
        gateway.close()
    }

    @Test func `beyond the limits a request is refused`() async throws {
        let gateway = gateway {
            $0.connectionsMax = 1
            $0.waitersMax = 0
        }
        let held = try await gateway.borrow()
        await #expect(throws: GatewayError.overloaded) { try await gateway.call("ping") }
        #expect(gateway.counters.refused == 1)
        gateway.giveBack(held)
        gateway.close()
    }

    @Test func `a waiting request opens a connection for one that was lost`() async throws {
        let gateway = gateway { $0.connectionsMax = 1 }
        let first = Task { try await gateway.call("first") }
        let lost = try await peer()
        #expect(await lost.receive()?.contains("first") == true)
        let second = Task.immediate { try await gateway.call("second") }
        #expect(gateway.counters.waiting == 1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        try await peer().answer("{}")
        #expect(try await second.value == .result(ByteBuffer(string: "{}")))
        #expect(gateway.counters.busy == 0 && gateway.counters.opened == 2)
        gateway.close()
    }

    @Test func `a request that waits too long is refused`() async throws {
        let gateway = gateway {
            $0.connectionsMax = 1
            $0.requestTime = .milliseconds(1)
        }
        // Nothing takes the connection away from its borrower, so only the timer ends the wait.
        let held = try await gateway.borrow()
        await #expect(throws: GatewayError.overloaded) { try await gateway.call("ping") }
        #expect(gateway.counters.waiting == 0 && gateway.counters.busy == 1)
        gateway.giveBack(held)
        gateway.close()
    }

    @Test func `a request that is cancelled does not wait on`() async throws {
        let gateway = gateway { $0.connectionsMax = 1 }
        let held = try await gateway.borrow()
        let call = Task.immediate { try await gateway.call("ping") }
        #expect(gateway.counters.waiting == 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(gateway.counters.waiting == 0)
        gateway.giveBack(held)
        gateway.close()
    }

    @Test func `a request without a response in time ends its connection`() async throws {
        let gateway = gateway { $0.requestTime = .milliseconds(1) }
        await #expect(throws: GatewayError.timedOut) { try await gateway.call("ping") }
        #expect(gateway.counters.timedOut == 1)
        #expect(gateway.counters.busy == 0 && gateway.counters.idle == 0)
        gateway.close()
    }

    @Test func `a connection that is not needed is closed`() async throws {
        let gateway = gateway { $0.idleTime = .milliseconds(1) }
        let held = try await gateway.borrow()
        let peer = try await peer()
        gateway.giveBack(held)
        #expect(await peer.receive() == nil)
        #expect(gateway.counters.idle == 0)
        gateway.close()
    }

    @Test func `without a service there is no answer`() async throws {
        let gateway = Gateway(on: `A gateway's connection`.group) { throw GatewayError.overloaded }
        await #expect(throws: GatewayError.ended) { try await gateway.call("ping") }
        #expect(gateway.counters.busy == 0)
        gateway.close()
    }
}
