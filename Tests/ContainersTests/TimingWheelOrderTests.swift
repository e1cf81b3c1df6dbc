import Testing

@testable import Containers

@Suite struct TimingWheelOrderTests {
    private func drain(_ wheel: inout TimingWheel, now: UInt64) -> [UInt64] {
        var payloads: [UInt64] = []
        while let due = wheel.popDue(now: now) { payloads.append(due.payload) }
        wheel.checkInvariants()
        return payloads
    }

    @Test func `equal deadlines come out in the order of the calls`() {
        var wheel = TimingWheel(now: 0)
        // The first lies on level 3, the second is scheduled when the deadline is on level 1.
        _ = wheel.schedule(1, at: 300_000)
        let none = wheel.popDue(now: 299_900)
        #expect(none == nil)
        _ = wheel.schedule(2, at: 300_000)
        let moved = wheel.schedule(3, at: 300_000)
        _ = wheel.schedule(4, at: 300_000)
        wheel.reschedule(moved, at: 300_000)
        #expect(drain(&wheel, now: 300_000) == [1, 2, 4, 3])
    }

    @Test func `parked entries keep the order of the calls over empty turns`() {
        var wheel = TimingWheel(now: 0)
        let far = (UInt64(1) << 36) * 5 + 17
        for payload in UInt64(0)..<8 { _ = wheel.schedule(payload, at: far) }
        _ = wheel.schedule(100, at: far - (1 << 36))
        _ = wheel.schedule(8, at: far)
        #expect(drain(&wheel, now: far - 1) == [100])
        _ = wheel.schedule(9, at: far)
        #expect(drain(&wheel, now: far) == Array(0...9))
    }

    @Test func `a deadline in the past is due at once and counts as the present`() {
        var wheel = TimingWheel(now: 1_000)
        _ = wheel.schedule(1, at: 1_000)
        _ = wheel.schedule(2, at: 3)
        let wake = wheel.nextWake
        #expect(wake == 1_000)
        let first = wheel.popDue(now: 1_000)
        let second = wheel.popDue(now: 1_000)
        #expect(first == DueTimer(payload: 1, deadline: 1_000))
        #expect(second == DueTimer(payload: 2, deadline: 1_000))
    }

    @Test func `what is scheduled between pops comes out in its place`() {
        var wheel = TimingWheel(now: 0)
        for deadline: UInt64 in [10, 20, 30] { _ = wheel.schedule(deadline, at: deadline) }
        let first = wheel.popDue(now: 100)
        #expect(first?.payload == 10)
        _ = wheel.schedule(25, at: 25)
        _ = wheel.schedule(11, at: 5)
        _ = wheel.schedule(101, at: 101)
        #expect(drain(&wheel, now: 100) == [11, 20, 25, 30])
        #expect(drain(&wheel, now: 101) == [101])
    }

    @Test func `a now that goes back counts as the old one`() {
        var wheel = TimingWheel(now: 0)
        for deadline: UInt64 in [10, 20, 200] { _ = wheel.schedule(deadline, at: deadline) }
        let first = wheel.popDue(now: 100)
        #expect(first?.payload == 10)
        #expect(drain(&wheel, now: 3) == [20])
        _ = wheel.schedule(99, at: 99)
        let late = wheel.popDue(now: 3)
        #expect(late == DueTimer(payload: 99, deadline: 100))
    }

    @Test func `cancelled and rescheduled entries do not pop at their old deadline`() {
        var wheel = TimingWheel(now: 0)
        let first = wheel.schedule(1, at: 50)
        let second = wheel.schedule(2, at: 50)
        let third = wheel.schedule(3, at: 70_000)
        wheel.cancel(first)
        wheel.reschedule(second, at: 70_001)
        wheel.reschedule(third, at: 60)
        #expect(drain(&wheel, now: 70_000) == [3])
        #expect(drain(&wheel, now: 70_001) == [2])
        let wake = wheel.nextWake
        #expect(wake == nil)
    }
}
