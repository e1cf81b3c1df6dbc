import PresenceCore
import Synchronization
import Testing

@testable import PresenceServer

@Suite struct `A box of a link` {
    /// Counts wake-ups of both sides.
    private final class Wakes: Sendable {
        let host = Atomic(0)
        let loop = Atomic(0)

        func box() -> LinkBox {
            LinkBox(
                loop: 1, wakeHost: { self.host.add(1, ordering: .relaxed) },
                wakeLoop: { self.loop.add(1, ordering: .relaxed) })
        }

        var counts: [Int] {
            [host.load(ordering: .relaxed), loop.load(ordering: .relaxed)]
        }
    }

    private let connection = ConnectionID(slot: 1, generation: 1)

    private func inbound(_ count: Int) -> Inbound {
        var inbound = Inbound()
        for _ in 0..<count { inbound.append(.drained(connection)) }
        return inbound
    }

    @Test func `keeps turns in order, and wakes the reader once`() {
        let wakes = Wakes()
        let box = wakes.box()
        for count in 1...3 {
            var turn = inbound(count)
            #expect(box.hand(&turn))
            #expect(turn.isEmpty)
        }
        #expect(wakes.counts == [1, 0])
        #expect(box.takeInbound().map(\.items.count) == [1, 2, 3])
        #expect(box.takeInbound().isEmpty)
        var turn = inbound(1)
        #expect(box.hand(&turn))
        #expect(wakes.counts == [2, 0])
    }

    @Test func `wakes nobody for nothing`() {
        let wakes = Wakes()
        let box = wakes.box()
        var turn = Inbound()
        #expect(box.hand(&turn))
        #expect(wakes.counts == [0, 0] && box.takeInbound().isEmpty)
    }

    @Test func `takes nothing when the engine host has ended, but gives what is left`() {
        let wakes = Wakes()
        let box = wakes.box()
        var outbound = Outbound()
        outbound.own.items.append(.caughtUp(connection))
        box.hand(outbound)
        box.close()
        var turn = inbound(1)
        #expect(!box.hand(&turn))
        #expect(box.takeInbound().isEmpty)
        #expect(box.takeOutbound().count == 1)
        #expect(wakes.counts == [0, 2])
    }
}
