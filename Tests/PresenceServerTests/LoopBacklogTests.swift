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

@Suite struct `The roll of loops` {
    private let start = Mono(milliseconds: 1_000)

    @Test func `is complete when every loop has answered two rounds`() {
        var roll = RollCall()
        #expect(!roll.isUnderWay)
        let first = roll.begin(loops: 2, at: start)
        #expect(roll.isUnderWay)
        #expect(roll.note(first, loops: 2) == nil)
        let second = roll.note(first, loops: 2)
        #expect(second == first + 1 && roll.isUnderWay)
        // An answer of the first round would be one too many.
        #expect(roll.note(first, loops: 2) == nil)
        #expect(roll.note(first + 1, loops: 2) == nil)
        #expect(roll.isUnderWay)
        #expect(roll.note(first + 1, loops: 2) == nil)
        #expect(!roll.isUnderWay)
    }

    @Test func `does not wait for a stalled loop`() {
        var roll = RollCall()
        let number = roll.begin(loops: 2, at: start)
        let end = start.advanced(byMilliseconds: RollCall.waitMilliseconds)
        #expect(roll.deadline == end)
        roll.checkEnd(at: start)
        #expect(roll.isUnderWay)
        roll.checkEnd(at: end)
        #expect(!roll.isUnderWay && roll.deadline == nil)
        #expect(roll.note(number, loops: 2) == nil)
    }

    /// The engine host was suspended while it was busy: it waited for no deadline, and there is a
    /// deadline now.
    @Test func `is called when the engine host was not called in time, idle or busy`() {
        let late = start.advanced(byMilliseconds: RollCall.lateMilliseconds)
        let before = Mono(milliseconds: late.milliseconds - 1)
        // Busy: it was to be called at once, and the deadline was in the future.
        #expect(RollCall.isNeeded(awaited: start, engineDeadline: before, at: late))
        // Idle, until the deadline or until something else.
        #expect(RollCall.isNeeded(awaited: start, engineDeadline: start, at: late))
        #expect(!RollCall.isNeeded(awaited: start, engineDeadline: start, at: before))
        // Nothing is due.
        #expect(!RollCall.isNeeded(awaited: start, engineDeadline: nil, at: late))
        let later = late.advanced(byMilliseconds: 1)
        #expect(!RollCall.isNeeded(awaited: start, engineDeadline: later, at: late))
        // It is being called.
        #expect(!RollCall.isNeeded(awaited: nil, engineDeadline: start, at: late))
    }
}

@Suite struct `The wait of the engine host` {
    private let now = Mono(milliseconds: 1_000)
    private let later = Mono(milliseconds: 2_000)
    private let passed = Mono(milliseconds: 500)

    private func wait(
        rollEnd: Mono? = nil, isInputHeld: Bool = false, isBusy: Bool = false,
        deadline: Mono? = nil
    ) -> HostWait {
        HostWait(
            rollEnd: rollEnd, isInputHeld: isInputHeld, isBusy: isBusy, deadline: deadline, at: now)
    }

    @Test func `ends at the next deadline, or at once`() {
        #expect(wait().end == nil && wait().awaited == nil)
        #expect(wait(deadline: later).end == later && wait(deadline: later).awaited == later)
        let busy = wait(isBusy: true, deadline: now)
        #expect(busy.end == now && busy.awaited == now)
    }

    /// A deadline that waited for the roll is late when it fires. If that called the roll again,
    /// each would be followed by another.
    @Test func `is not late for what has passed already`() {
        let wait = wait(deadline: passed)
        #expect(wait.end == passed)
        #expect(
            !RollCall.isNeeded(awaited: wait.awaited, engineDeadline: passed, at: now))
    }

    @Test func `goes on with work during the roll, and with no deadline`() {
        #expect(wait(rollEnd: later, deadline: passed).end == later)
        #expect(wait(rollEnd: later, isBusy: true, deadline: now).end == now)
        #expect(wait(rollEnd: later, isBusy: true, deadline: now).awaited == nil)
    }

    @Test func `is for a loop while input is held`() {
        #expect(wait(isInputHeld: true, deadline: passed).end == nil)
        #expect(wait(isInputHeld: true, isBusy: true, deadline: now).end == nil)
        #expect(wait(isInputHeld: true, deadline: passed).awaited == now)
    }
}
