import Connections
import PresenceCore
import PresenceWire
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
        box.hand(SealedOutbound(items: [.client(connection, .caughtUp)]))
        box.close()
        var turn = inbound(1)
        #expect(!box.hand(&turn))
        #expect(box.takeInbound().isEmpty)
        #expect(box.takeAndReleaseOutbound().count == 1)
        #expect(wakes.counts == [0, 2])
    }

    private let nothingQueued = WriteProgress(queued: 0, written: 0)

    private var outbound: SealedOutbound {
        SealedOutbound(
            SealedOutbound.Shared(SharedOutput()),
            LoopOutput(
                items: [.client(connection, .caughtUp)],
                receivers: Array(repeating: 1, count: 100)))
    }

    @Test func `gives turns in parts, and knows what was not carried out`() {
        let wakes = Wakes()
        let box = wakes.box()
        for _ in 0..<3 { box.hand(outbound) }
        let bytes = outbound.byteCount
        #expect(bytes >= 400)
        #expect(box.backlog().unreleased == LinkBox.Amount(turns: 3, bytes: 3 * bytes))
        #expect(box.takeOutbound(bytesMax: bytes + 1).count == 2)
        // More is left.
        #expect(wakes.counts == [0, 2])
        #expect(box.backlog().unreleased.turns == 3)
        box.release(nothingQueued)
        #expect(box.backlog().unreleased == LinkBox.Amount(turns: 1, bytes: bytes))
        #expect(box.backlog().releasedTurns == 2 && box.backlog().endedTurns == 1)
        // One turn is taken, however large it is.
        #expect(box.takeOutbound(bytesMax: 1).count == 1)
        box.release(nothingQueued)
        #expect(box.backlog().unreleased == LinkBox.Amount())
        #expect(wakes.counts == [0, 2])
    }

    @Test func `wakes the engine host when something is released that it waits for`() {
        let wakes = Wakes()
        let box = wakes.box()
        box.hand(outbound)
        #expect(box.awaitRelease(after: 0))
        box.release(nothingQueued)
        #expect(wakes.counts == [0, 1])
        #expect(box.takeOutbound(bytesMax: .max).count == 1)
        box.release(nothingQueued)
        #expect(wakes.counts == [1, 1])
        box.release(nothingQueued)
        #expect(wakes.counts == [1, 1])
        // It was released before the engine host began to wait.
        #expect(!box.awaitRelease(after: 0))
    }

    @Test func `releases turns when what was queued by then has been written`() {
        let wakes = Wakes()
        let box = wakes.box()
        let bytes = outbound.byteCount
        func unreleased(after progress: WriteProgress) -> Int {
            box.release(progress)
            return box.backlog().unreleased.bytes / bytes
        }
        for _ in 0..<3 { box.hand(outbound) }
        _ = box.takeOutbound(bytesMax: bytes + 1)
        #expect(unreleased(after: WriteProgress(queued: 10, written: 4)) == 3)
        _ = box.takeOutbound(bytesMax: 1)
        #expect(unreleased(after: WriteProgress(queued: 12, written: 9)) == 3)
        #expect(unreleased(after: WriteProgress(queued: 15, written: 10)) == 1)
        #expect(unreleased(after: WriteProgress(queued: 15, written: 11)) == 1)
        #expect(box.awaitRelease(after: 2))
        #expect(wakes.counts.first == 0)
        #expect(unreleased(after: WriteProgress(queued: 16, written: 12)) == 0)
        #expect(wakes.counts.first == 1)
    }

    @Test func `is given all requests of a turn at once, with their texts`() {
        let wakes = Wakes()
        let box = wakes.box()
        var link = ThreadedLink(box)
        var outbound = Outbound()
        let now = Moment(mono: Mono(milliseconds: 1), wall: Wall(milliseconds: 1))
        for account in ["alice", "bob", "carol"] {
            var turn = Inbound()
            var decoder = RequestDecoder(limits: Limits())
            let text =
                #"{"jsonrpc":"2.0","id":1,"method":"sessions","params":{"account":""#
                + account + #""}}"#
            let bytes = Array(text.utf8)
            guard case .success(let request) = decoder.decode(bytes.span.bytes) else {
                Issue.record("a request that is not decoded")
                return
            }
            turn.append(request.method, of: &decoder, from: connection, at: nil)
            _ = link.exchange(&turn, into: &outbound, at: now)
            #expect(turn.isEmpty && wakes.counts == [0, 0])
        }
        link.advance(to: now, heardUpTo: now.mono, into: &outbound)
        link.endTurn(at: now, nothingQueued, into: &outbound)
        #expect(wakes.counts == [1, 0])
        let turns = box.takeInbound()
        #expect(turns.count == 1)
        let names = turns[0].items.map { item -> String in
            guard case .request(let request, _) = item,
                case .command(.sessions(let account)) = request.method
            else { return "" }
            let source = turns[0].texts[request.texts]
            return String(decoding: source.bytes(account), as: UTF8.self)
        }
        #expect(names == ["alice", "bob", "carol"])
    }
}
