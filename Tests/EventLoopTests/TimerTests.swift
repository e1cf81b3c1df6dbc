import EventLoop
import Testing

@Suite struct TimerTests {
    /// Logs timers and turns, and stops after a number of timers.
    final class TimerLog: LoopHandler {
        let loop: Loop
        var firedAt: [UInt64] = []
        var log: [String] = []
        var onFired: () -> Void = {}
        var onTurnEnded: () -> Void = {}

        init(_ loop: Loop) { self.loop = loop }

        /// Runs the loop, and drops the reactions, which usually look at this log.
        func run() {
            loop.run(self)
            onFired = {}
            onTurnEnded = {}
        }

        func timerFired() {
            firedAt.append(loop.monotonicMilliseconds)
            log.append("timer")
            onFired()
        }
        func turnEnded() {
            log.append("turn")
            onTurnEnded()
        }
        func wokenUp() { log.append("wake") }
        func streamAccepted(_ id: StreamID) {}
        func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {}
        func streamEnded(_ id: StreamID, _ reason: StreamEnd) {}
        func streamDrained(_ id: StreamID) {}
        func streamClosed(_ id: StreamID) {}
        func acceptFailed(_ error: UVError) {}
        func signalReceived(_ signal: CInt) {}
    }

    @Test func `the timer does not fire before its time, and fires once`() throws {
        let loop = try Loop()
        let handler = TimerLog(loop)
        let deadline = loop.monotonicMilliseconds + 15
        loop.armTimer(atMonotonicMilliseconds: deadline)
        handler.onFired = { loop.stop() }
        handler.run()
        #expect(handler.firedAt.count == 1)
        #expect(try #require(handler.firedAt.first) >= deadline)
        loop.wakeup.wake()
        handler.onTurnEnded = { if handler.log.contains("wake") { loop.stop() } }
        handler.run()
        #expect(handler.firedAt.count == 1)
        loop.close()
    }

    @Test func `what the timer causes is flushed before the loop waits again`() throws {
        let loop = try Loop()
        let handler = TimerLog(loop)
        loop.armTimer(atMonotonicMilliseconds: loop.monotonicMilliseconds + 5)
        // Nothing but the end of the turn can stop this loop.
        handler.onTurnEnded = { if !handler.firedAt.isEmpty { loop.stop() } }
        handler.run()
        #expect(handler.log.first == "turn", "a turn ends before the first wait")
        #expect(handler.log.contains("timer"))
        #expect(handler.log.last == "turn")
        loop.close()
    }

    @Test func `an earlier deadline replaces a later one`() throws {
        let loop = try Loop()
        let handler = TimerLog(loop)
        loop.armTimer(atMonotonicMilliseconds: loop.monotonicMilliseconds + 3_600_000)
        handler.onTurnEnded = {
            if handler.log.count == 1 {
                loop.armTimer(atMonotonicMilliseconds: loop.monotonicMilliseconds + 3_600_000)
                loop.wakeup.wake()
            } else {
                loop.armTimer(atMonotonicMilliseconds: loop.monotonicMilliseconds + 1)
            }
        }
        handler.onFired = { loop.stop() }
        handler.run()
        #expect(handler.firedAt.count == 1)
        loop.close()
    }

    @Test func `a later deadline replaces an earlier one`() throws {
        let loop = try Loop()
        let handler = TimerLog(loop)
        let early = loop.monotonicMilliseconds + 1
        let late = early + 30
        loop.armTimer(atMonotonicMilliseconds: early)
        handler.onTurnEnded = { loop.armTimer(atMonotonicMilliseconds: late) }
        handler.onFired = { loop.stop() }
        handler.run()
        #expect(handler.firedAt.count == 1)
        #expect(try #require(handler.firedAt.first) >= late)
        loop.close()
    }

    @Test func `a disarmed timer does not fire`() throws {
        let loop = try Loop()
        let handler = TimerLog(loop)
        loop.armTimer(atMonotonicMilliseconds: loop.monotonicMilliseconds)
        var turns = 0
        handler.onTurnEnded = {
            turns += 1
            loop.disarmTimer()
            if turns == 10 { loop.stop() } else { loop.wakeup.wake() }
        }
        handler.run()
        #expect(handler.firedAt.isEmpty)
        loop.close()
    }

    @Test func `a timer that is always late does not starve streams`() throws {
        let loop = try Loop()
        let handler = TimerLog(loop)
        loop.armTimer(atMonotonicMilliseconds: 0)
        handler.onFired = { loop.armTimer(atMonotonicMilliseconds: 0) }
        handler.onTurnEnded = {
            if handler.firedAt.count == 3 { loop.wakeup.wake() }
            if handler.log.contains("wake") { loop.stop() }
        }
        handler.run()
        #expect(handler.log.contains("wake"))
        loop.close()
    }

    @Test func `the clocks agree with their units`() throws {
        let loop = try Loop()
        let start = loop.monotonicMilliseconds
        #expect(loop.monotonicMilliseconds >= start)
        // Between 2020 and 2200.
        #expect(1_577_836_800_000..<7_258_118_400_000 ~= Loop.wallMilliseconds())
        loop.close()
    }
}
