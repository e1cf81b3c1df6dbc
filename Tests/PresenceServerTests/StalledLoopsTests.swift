import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Loops that are behind the engine host` {
    private let start = Mono(milliseconds: 1_000)
    private let full = Self.turns(StalledLoops.turnsMax)
    private let stall = StalledLoops.stallMilliseconds

    /// A loop that has this number of turns to release, after some turns of its own.
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
        var loops = StalledLoops(loops: 2)
        #expect(loops.mayTakeInput && loops.nextDeadline == nil)
        #expect(loops.note(full, of: 1, at: start) == false)
        #expect(!loops.mayTakeInput && loops.nextDeadline == after(stall))
        let rest = Self.turns(1, bytes: 10, ended: 1)
        #expect(loops.note(rest, of: 1, at: after(1)) == false)
        #expect(loops.mayTakeInput && loops.loops == [] && loops.nextDeadline == nil)
    }

    @Test func `are full by their bytes, too`() {
        var loops = StalledLoops(loops: 1)
        let load = Self.turns(1, bytes: StalledLoops.bytesMax)
        #expect(loops.note(load, of: 0, at: start) == false)
        #expect(!loops.mayTakeInput)
    }

    /// One that has many outboxes to write ends many turns until it releases something.
    @Test func `are waited for as long as they end turns`() {
        var loops = StalledLoops(loops: 1)
        for turn in 0..<10 {
            let full = Self.turns(StalledLoops.turnsMax, ended: turn)
            #expect(loops.note(full, of: 0, at: after(UInt64(turn) * 200)) == false)
            #expect(!loops.mayTakeInput && loops.loops == [])
        }
    }

    @Test func `are not waited for when they are stalled, until they work again`() {
        var loops = StalledLoops(loops: 3)
        #expect(loops.note(full, of: 2, at: start) == false)
        let later = after(stall)
        #expect(loops.note(full, of: 2, at: later) == true)
        #expect(loops.loops == [2])
        #expect(loops.mayTakeInput && loops.mayContinueFanOuts && loops.nextDeadline == nil)
        // It has begun to release, and has not made up for it.
        let much = Self.turns(StalledLoops.turnsMax / 2 + 1, bytes: 10, ended: 1)
        #expect(loops.note(much, of: 2, at: later) == false)
        #expect(loops.loops == [2])
        // There is always something under load.
        let rest = Self.turns(StalledLoops.turnsMax / 2, bytes: 10, ended: 2, released: 37)
        #expect(loops.note(rest, of: 2, at: later) == true)
        #expect(loops.loops == [] && loops.releasedTurns == [0, 0, 37])
    }

    /// Without that it would keep the engine host from taking input once it is full.
    @Test func `are waited for only if they are in the way`() {
        var loops = StalledLoops(loops: 1)
        let few = Self.turns(StalledLoops.turnsMax - 1)
        #expect(loops.note(few, of: 0, at: start) == false)
        #expect(loops.note(few, of: 0, at: after(9_000)) == false)
        #expect(loops.mayTakeInput && loops.loops == [] && loops.nextDeadline == nil)
        #expect(loops.note(full, of: 0, at: after(9_001)) == true)
        #expect(loops.loops == [0])
    }

    /// SIGSTOP, or a machine that is suspended: the engine host may be the first to continue.
    @Test func `have time to work when the whole process was suspended`() {
        var loops = StalledLoops(loops: 1)
        #expect(loops.note(full, of: 0, at: start) == false)
        loops.skip(milliseconds: 4_900)
        #expect(loops.note(full, of: 0, at: after(5_000)) == false)
        #expect(!loops.mayTakeInput && loops.nextDeadline == after(4_900 + stall))
        #expect(loops.note(full, of: 0, at: after(4_900 + stall)) == true)
        // One that is stalled stays so.
        loops.skip(milliseconds: 10_000)
        #expect(loops.note(full, of: 0, at: after(20_000)) == false)
        #expect(loops.loops == [0])
    }

    @Test func `hold large fan-outs back early, and only as long as they end turns`() {
        var loops = StalledLoops(loops: 2)
        let few = Self.turns(StalledLoops.turnsBesideFanOuts)
        #expect(loops.note(few, of: 0, at: start) == false)
        #expect(loops.mayContinueFanOuts)
        let more = Self.turns(StalledLoops.turnsBesideFanOuts + 1)
        #expect(loops.note(more, of: 0, at: start) == false)
        #expect(!loops.mayContinueFanOuts && loops.mayTakeInput && loops.nextDeadline == nil)
        loops.isHoldingFanOuts = true
        #expect(loops.nextDeadline == after(stall))
        // It is not full, and would never be if nothing else happens.
        #expect(loops.note(more, of: 0, at: after(stall)) == true)
        #expect(loops.loops == [0] && loops.mayContinueFanOuts && loops.nextDeadline == nil)
    }

    @Test func `keep a bounded amount for each connection, and then give it up`() {
        var loops = StalledLoops(loops: 2)
        loops.stall(1)
        let limits = StalledLoops.Limits(perConnection: 100, perLoop: 250)
        let connections = (0..<3).map { ConnectionID(slot: $0, generation: 1) }
        func keep(_ bytes: Int, _ connection: Int) -> StalledLoops.Verdict {
            loops.keep(bytes, for: connections[connection], ofLoop: 1, within: limits)
        }
        #expect(keep(60, 0) == .waits && keep(40, 0) == .waits)
        #expect(keep(1, 0) == .closes && keep(1, 0) == .dropped)
        // All of them together are bounded by what the loop may have.
        #expect(keep(100, 1) == .waits && keep(50, 2) == .waits)
        #expect(keep(1, 2) == .closes && keep(1, 2) == .dropped)
        loops.release(1)
        loops.stall(1)
        #expect(keep(100, 0) == .waits)
    }
}

extension StalledLoops {
    /// Makes a loop stalled.
    mutating func stall(_ loop: Int) {
        let full = LinkBox.Backlog(unreleased: LinkBox.Amount(turns: Self.turnsMax, bytes: 0))
        _ = note(full, of: loop, at: Mono(milliseconds: 0))
        _ = note(full, of: loop, at: Mono(milliseconds: Self.stallMilliseconds))
    }

    /// Makes a loop work again.
    mutating func release(_ loop: Int) {
        _ = note(LinkBox.Backlog(), of: loop, at: Mono(milliseconds: 0))
    }
}
