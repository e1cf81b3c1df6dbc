import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Deadlines after a suspension` {
    private static let start: UInt64 = 10_000
    private let hold = DeadlineGate.holdMilliseconds

    private func time(_ milliseconds: UInt64) -> Mono {
        Mono(milliseconds: Self.start + milliseconds)
    }

    /// A turn at this time, in which everything is taken in; the next one is to begin at `next`.
    private func turn(_ gate: inout DeadlineGate, at now: UInt64, next: UInt64?) {
        gate.beginTurn(at: time(now))
        gate.endTurn(heardUpTo: time(now))
        gate.wait(until: next.map(time))
    }

    private func gate() -> DeadlineGate {
        DeadlineGate(at: Mono(milliseconds: Self.start))
    }

    @Test func `do not wait while turns are in time`() {
        var gate = gate()
        turn(&gate, at: 5, next: 50)
        turn(&gate, at: 50 + DeadlineGate.lateMilliseconds - 1, next: nil)
        // Nothing was waited for.
        turn(&gate, at: 60_000, next: nil)
        #expect(gate.heardUpTo == time(60_000))
        #expect(gate.wake(for: time(100)) == time(100) && gate.wake(for: nil) == nil)
    }

    @Test func `wait for a second after a late turn`() {
        var gate = gate()
        turn(&gate, at: 0, next: 100)
        turn(&gate, at: 5_000, next: nil)
        // Those that were due before may fire.
        #expect(gate.heardUpTo == time(0))
        #expect(gate.wake(for: time(0)) == time(0))
        #expect(gate.wake(for: time(1)) == time(5_000 + hold))
        #expect(gate.wake(for: time(9_000)) == time(9_000))
        turn(&gate, at: 5_400, next: nil)
        #expect(gate.heardUpTo == time(0) && gate.wake(for: time(1)) == time(5_000 + hold))
        turn(&gate, at: 5_000 + hold, next: nil)
        #expect(gate.heardUpTo == time(5_000 + hold))
    }

    @Test func `wait for input that is not taken in`() {
        var gate = gate()
        turn(&gate, at: 0, next: 10)
        gate.beginTurn(at: time(20))
        #expect(gate.heardUpTo == time(0))
        gate.endTurn(heardUpTo: time(12))
        #expect(gate.heardUpTo == time(12))
    }

    /// One that has waited is late when it fires, which is no sign of a suspension.
    @Test func `wait once`() {
        var gate = gate()
        turn(&gate, at: 0, next: 100)
        turn(&gate, at: 5_000, next: 5_000 + hold)
        turn(&gate, at: 5_000 + hold, next: 100)
        turn(&gate, at: 5_001 + hold, next: nil)
        #expect(gate.heardUpTo == time(5_001 + hold))
    }

    /// The time in which nothing ran does not count, but for what would be in time.
    @Test func `wait again after another suspension, those of the first one do not`() {
        var gate = gate()
        turn(&gate, at: 0, next: 100)
        turn(&gate, at: 5_000, next: 5_000 + hold)
        turn(&gate, at: 5_300, next: 5_000 + hold)
        turn(&gate, at: 20_000, next: nil)
        let left = hold - 300 - DeadlineGate.lateMilliseconds
        #expect(gate.heardUpTo == time(0))
        #expect(gate.wake(for: time(1)) == time(20_000 + left))
        turn(&gate, at: 20_000 + left, next: nil)
        // Then those that became due in the meantime wait for a second.
        #expect(gate.heardUpTo == time(5_000))
        #expect(gate.wake(for: time(5_001)) == time(20_000 + left + hold))
    }

    /// Every turn of an overloaded machine may be late.
    @Test func `fire in the end, however late turns are`() {
        var gate = gate()
        var now: UInt64 = 0
        var turns = 0
        while gate.heardUpTo < time(1_000), turns < 1_000 {
            turn(&gate, at: now, next: now)
            now += 5_000
            turns += 1
        }
        #expect(turns < 25)
    }
}
