import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Loops that are behind the engine host` {
    private let start = Mono(milliseconds: 1_000)
    private let full = Self.turns(LoopBacklogs.turnsMax)

    /// A loop that has so many turns to release, after so many turns of its own.
    private static func turns(
        _ count: Int, bytes: Int = 0, ended: Int = 0, released: Int = 0
    ) -> LinkBox.Backlog {
        LinkBox.Backlog(
            unreleased: LinkBox.Amount(turns: count, bytes: bytes), releasedTurns: released,
            endedTurns: ended)
    }

    private func after(_ milliseconds: UInt64) -> Mono {
        start.advanced(byMilliseconds: milliseconds)
    }

    @Test func `keep the engine host from taking input while one is full`() {
        var backlogs = LoopBacklogs(loops: 2)
        #expect(backlogs.mayTakeInput && backlogs.nextDeadline(holdingFanOuts: false) == nil)
        #expect(backlogs.note(full, of: 1, at: start) == false)
        #expect(!backlogs.mayTakeInput)
        #expect(
            backlogs.nextDeadline(holdingFanOuts: false)
                == after(LoopBacklogs.stallMilliseconds))
        let rest = Self.turns(1, bytes: 10, ended: 1)
        #expect(backlogs.note(rest, of: 1, at: after(1)) == false)
        #expect(
            backlogs.mayTakeInput && backlogs.stalled == []
                && backlogs.nextDeadline(holdingFanOuts: false) == nil)
    }

    @Test func `are full by their bytes, too`() {
        var backlogs = LoopBacklogs(loops: 1)
        let load = Self.turns(1, bytes: LoopBacklogs.bytesMax)
        #expect(backlogs.note(load, of: 0, at: start) == false)
        #expect(!backlogs.mayTakeInput)
    }

    /// One that has many outboxes to write ends many turns until it releases something.
    @Test func `are waited for as long as they end turns`() {
        var backlogs = LoopBacklogs(loops: 1)
        for turn in 0..<10 {
            let now = after(UInt64(turn) * 200)
            let full = Self.turns(LoopBacklogs.turnsMax, ended: turn)
            #expect(backlogs.note(full, of: 0, at: now) == false)
            #expect(!backlogs.mayTakeInput && backlogs.stalled == [])
        }
    }

    @Test func `are not waited for when they are stalled, until they work again`() {
        var backlogs = LoopBacklogs(loops: 3)
        #expect(backlogs.note(full, of: 2, at: start) == false)
        let later = after(LoopBacklogs.stallMilliseconds)
        #expect(backlogs.note(full, of: 2, at: later) == true)
        #expect(backlogs.stalled == [2])
        #expect(backlogs.mayTakeInput && backlogs.mayContinueFanOuts)
        #expect(backlogs.nextDeadline(holdingFanOuts: false) == nil)
        // It has begun to release, and has not made up for it.
        let much = Self.turns(LoopBacklogs.turnsMax / 2 + 1, bytes: 10, ended: 1)
        #expect(backlogs.note(much, of: 2, at: later) == false)
        #expect(backlogs.stalled == [2])
        // There is always something under load.
        let rest = Self.turns(LoopBacklogs.turnsMax / 2, bytes: 10, ended: 2, released: 37)
        #expect(backlogs.note(rest, of: 2, at: later) == true)
        #expect(backlogs.stalled == [] && backlogs.unresponsive == [])
        #expect(backlogs.releasedTurns == [0, 0, 37])
    }

    @Test func `are stalled while they end no turn, however little there is`() {
        var backlogs = LoopBacklogs(loops: 1)
        #expect(backlogs.note(full, of: 0, at: start) == false)
        let later = after(LoopBacklogs.stallMilliseconds)
        #expect(backlogs.note(full, of: 0, at: later) == true)
        let rest = Self.turns(2, bytes: 10, ended: 1)
        #expect(backlogs.note(rest, of: 0, at: later) == true)
        #expect(backlogs.stalled == [])
    }

    /// SIGSTOP, or a machine that is suspended: the engine host may be the first to continue.
    @Test func `have time to work when the whole process was suspended`() {
        var backlogs = LoopBacklogs(loops: 1)
        #expect(backlogs.note(full, of: 0, at: start) == false)
        #expect(backlogs.note(full, of: 0, at: after(5_000)) == false)
        #expect(!backlogs.mayTakeInput && backlogs.unresponsive == [])
        let end = after(5_000 + LoopBacklogs.stallMilliseconds)
        #expect(backlogs.nextDeadline(holdingFanOuts: false) == end)
        #expect(backlogs.note(full, of: 0, at: end) == true)
    }

    /// An idle engine host measures once a second, or more rarely.
    @Test func `are given more time once`() {
        var backlogs = LoopBacklogs(loops: 1)
        let few = Self.turns(1)
        #expect(backlogs.note(few, of: 0, at: start) == false)
        #expect(backlogs.note(few, of: 0, at: after(1_000)) == false)
        #expect(backlogs.unresponsive == [])
        #expect(backlogs.note(few, of: 0, at: after(2_000)) == false)
        #expect(backlogs.unresponsive == [0])
        #expect(backlogs.note(few, of: 0, at: after(9_000)) == false)
        #expect(backlogs.unresponsive == [0])
    }

    @Test func `hold large fan-outs back early`() {
        var backlogs = LoopBacklogs(loops: 2)
        let few = Self.turns(LoopBacklogs.turnsBesideFanOuts)
        #expect(backlogs.note(few, of: 0, at: start) == false)
        #expect(backlogs.mayContinueFanOuts)
        let more = Self.turns(LoopBacklogs.turnsBesideFanOuts + 1)
        #expect(backlogs.note(more, of: 0, at: start) == false)
        #expect(!backlogs.mayContinueFanOuts && backlogs.mayTakeInput)
    }

    /// It is not full, and would never be if nothing else happens.
    @Test func `hold large fan-outs back only as long as they end turns`() {
        var backlogs = LoopBacklogs(loops: 2)
        let few = Self.turns(LoopBacklogs.turnsBesideFanOuts + 1)
        #expect(backlogs.note(few, of: 1, at: start) == false)
        #expect(!backlogs.mayContinueFanOuts)
        #expect(backlogs.nextDeadline(holdingFanOuts: false) == nil)
        #expect(
            backlogs.nextDeadline(holdingFanOuts: true)
                == after(LoopBacklogs.stallMilliseconds))
        let later = after(LoopBacklogs.stallMilliseconds)
        #expect(backlogs.note(few, of: 1, at: later) == false)
        #expect(backlogs.mayContinueFanOuts && backlogs.stalled == [] && backlogs.mayTakeInput)
        // It gets no new connections.
        #expect(backlogs.unresponsive == [1])
        #expect(backlogs.nextDeadline(holdingFanOuts: true) == nil)
        // What it is handed now makes it full, and it is stalled at once.
        #expect(backlogs.note(full, of: 1, at: later) == true)
        #expect(backlogs.mayTakeInput && backlogs.stalled == [1])
    }
}

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
