import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `The input of loops` {
    private func time(_ milliseconds: UInt64) -> Mono { Mono(milliseconds: milliseconds) }

    private func turn(_ slot: UInt32) -> Inbound {
        var inbound = Inbound()
        inbound.append(.drained(ConnectionID(slot: slot, generation: 1)))
        return inbound
    }

    private func slot(_ rest: LoopInput.Rest?) -> UInt32? {
        guard let rest, case .drained(let connection) = rest.inbound.items[rest.first] else {
            return nil
        }
        return connection.slot
    }

    /// A login may wait in it, of a device whose grace ends.
    @Test func `is taken in before the time of a deadline counts as heard`() {
        let boxes = (0..<2).map { LinkBox(loop: $0, wakeHost: {}, wakeLoop: {}) }
        for (box, slot) in [(0, 1), (0, 2), (1, 11)] as [(Int, UInt32)] {
            var inbound = turn(slot)
            boxes[box].hand(&inbound)
        }
        var input = LoopInput(loops: 2, at: time(5))
        #expect(input.heardUpTo == time(5) && input.next() == nil)
        input.fill(from: boxes, at: time(10))
        #expect(input.heardUpTo == nil)
        #expect(slot(input.next()) == 1)
        var later = turn(3)
        boxes[0].hand(&later)
        #expect(slot(input.next()) == 11)
        #expect(input.heardUpTo == nil && !input.isEmpty)
        #expect(slot(input.next()) == 2)
        // What came after 10 ms is still in its box.
        #expect(input.heardUpTo == time(10) && input.isEmpty)
        input.fill(from: boxes, at: time(20))
        #expect(slot(input.next()) == 3)
        #expect(input.heardUpTo == time(20) && input.next() == nil)
    }

    @Test func `goes on with a turn that was taken in up to an item`() {
        let boxes = (0..<2).map { LinkBox(loop: $0, wakeHost: {}, wakeLoop: {}) }
        for (box, slots) in [(0, [1, 2, 3]), (1, [11])] as [(Int, [UInt32])] {
            var inbound = Inbound()
            for slot in slots { inbound.append(contentsOf: turn(slot)) }
            boxes[box].hand(&inbound)
        }
        var input = LoopInput(loops: 2, at: time(5))
        input.fill(from: boxes, at: time(10))
        for expected in [1, 2, 3] as [UInt32] {
            guard var rest = input.next() else {
                Issue.record("nothing is left")
                return
            }
            #expect(slot(rest) == expected)
            rest.first += 1
            if rest.first < rest.inbound.items.count { input.putBack(rest) }
            #expect(!input.isEmpty && input.heardUpTo == nil)
        }
        #expect(slot(input.next()) == 11)
        #expect(input.isEmpty && input.heardUpTo == time(10))
    }
}
