import Connections
import EventLoop
import PresenceCore

@testable import PresenceServer

// How much the service may keep for its connections.

extension Simulation {
    /// The formula of `ConnectionTable+Writing`, for every connection.
    func checkMemory() {
        for loop in service.loops { checkMemory(of: loop) }
    }

    private func checkMemory(of loop: SimulatedService.Loop) {
        for slot in loop.value.clients.table.indices {
            guard loop.value.clients.table.phase(of: slot) != .free else { continue }
            let answerMax = 40_000
            let pending = network.bytesPending(loop.value.clients.table.id(of: slot))
            let bytes = loop.value.clients.table.outboxBytes(of: slot) + pending
            if bytes > 2 * (Bound.outboxBytesMax + answerMax),
                bytes > shareBytesMax(of: loop.value.clients.table.id(of: slot))
            {
                violation("an outbox of \(bytes) bytes")
            }
            // Of its own topics there are no more than there are types.
            let missed = service.hub.host.engine.topicsMissed(
                by: loop.value.clients.connectionID(slot))
            if missed > Bound.subscriptionsPerAccountMax + Self.types.count + accounts.count {
                violation("behind with \(missed) topics")
            }
        }
    }

    /// The most bytes that a reader of what is undelivered may be sent at once, beside an answer.
    private func shareBytesMax(of id: StreamID) -> Int {
        clients.contains { $0.stream == id && $0.role == .pusher } ? 60_000 : 0
    }
}
