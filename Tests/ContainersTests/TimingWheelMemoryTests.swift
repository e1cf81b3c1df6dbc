import Testing

@testable import Containers

@Suite struct TimingWheelMemoryTests {
    @Test func `a freed id is the next one given`() {
        var wheel = TimingWheel(now: 0)
        let first = wheel.schedule(1, at: 10)
        let second = wheel.schedule(2, at: 20)
        #expect(first != second)
        wheel.cancel(first)
        let third = wheel.schedule(3, at: 30)
        #expect(third == first)
        let due = wheel.popDue(now: 20)
        #expect(due?.payload == 2)
        let fourth = wheel.schedule(4, at: 40)
        #expect(fourth == second)
        #expect(fourth != TimerID.none)
        wheel.checkInvariants()
    }

    @Test func `churn reserves nothing more`() {
        var wheel = TimingWheel(now: 0)
        var ids: [TimerID] = []
        for payload in UInt64(0)..<500 { ids.append(wheel.schedule(payload, at: payload)) }
        let reserved = wheel.bytesReserved
        for round in UInt64(0)..<20 {
            for index in ids.indices {
                wheel.cancel(ids[index])
                ids[index] = wheel.schedule(UInt64(index), at: round * 1_000 + UInt64(index))
            }
        }
        wheel.checkInvariants()
        #expect(wheel.bytesReserved == reserved)
    }

    @Test func `a large slab grows by an eighth`() {
        var wheel = TimingWheel(now: 0)
        for payload in UInt64(0)..<20_000 {
            _ = wheel.schedule(payload, at: payload << 8)
            let bytes = wheel.bytesReserved
            let used = (Int(payload) + 1 + TimingWheel.listCount) * 24
            // A page more is the allocator's rounding.
            if payload > 2_048 { #expect(bytes <= used + used / 8 + 4_096) }
        }
        #expect(MemoryLayout<TimingWheel.Entry>.stride == 24)
        wheel.checkInvariants()
    }

    @Test func `an id that is not scheduled is rejected`() async {
        await #expect(processExitsWith: .failure) {
            var wheel = TimingWheel(now: 0)
            let id = wheel.schedule(1, at: 10)
            wheel.cancel(id)
            wheel.cancel(id)
        }
        await #expect(processExitsWith: .failure) {
            var wheel = TimingWheel(now: 0)
            wheel.reschedule(.none, at: 10)
        }
    }
}
