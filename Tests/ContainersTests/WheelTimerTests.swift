import Testing

@testable import Containers

struct WheelTimerTests {
    @Test func `a timer has one entry, however often it is set`() {
        var wheel = TimingWheel(now: 0)
        var timer = WheelTimer()
        wheel.set(&timer, to: 10, payload: 7)
        wheel.set(&timer, to: 20, payload: 7)
        #expect(timer.isSet)
        #expect(wheel.count == 1)
        let early = wheel.popDue(now: 19)
        #expect(early == nil)
        let due = wheel.popDue(now: 20)
        #expect(due?.payload == 7)
        timer.fired()
        #expect(!timer.isSet)
        wheel.checkInvariants()
    }

    @Test func `a timer that is cleared does not fire, and can be set again`() {
        var wheel = TimingWheel(now: 0)
        var timer = WheelTimer()
        wheel.clear(&timer)
        wheel.set(&timer, to: 10, payload: 1)
        wheel.clear(&timer)
        wheel.clear(&timer)
        #expect(!timer.isSet)
        let cleared = wheel.popDue(now: 100)
        #expect(cleared == nil)
        wheel.set(&timer, to: 110, payload: 2)
        let due = wheel.popDue(now: 110)
        #expect(due?.payload == 2)
        wheel.checkInvariants()
    }

    @Test func `a timer takes four bytes`() {
        #expect(MemoryLayout<WheelTimer>.size == 4)
    }
}
