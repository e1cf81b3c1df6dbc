import EventLoop
import Testing

@testable import PresenceServer

@Suite struct `The watchdog` {
    private func limits(
        _ seconds: Int, supervisor milliseconds: UInt64? = nil
    ) -> Watchdog.Limits {
        var limits = Watchdog.Limits()
        limits.endSeconds = seconds
        limits.supervisorMilliseconds = milliseconds
        return limits
    }

    @Test func `calls loops unresponsive after half of the time, and hung after all of it`() {
        var silence = LoopSilence(loops: 2, limits(8))
        #expect(limits(8).tickMilliseconds == 1_000)
        for tick in 0..<4 {
            silence.tick([1, UInt64(tick)])
            #expect(silence.isResponsive)
        }
        for tick in 4..<8 {
            silence.tick([1, UInt64(tick)])
            #expect(!silence.isResponsive && silence.hung == nil)
        }
        silence.tick([1, 8])
        #expect(silence.hung == 0)
        silence.tick([2, 8])
        #expect(silence.isResponsive && silence.hung == nil)
    }

    @Test func `ends nothing without a limit, and does not watch loops that do not run`() {
        var silence = LoopSilence(loops: 2, limits(0))
        for _ in 0..<1_000 { silence.tick([1, nil]) }
        #expect(!silence.isResponsive && silence.hung == nil)
        for _ in 0..<1_000 { silence.tick([nil, nil]) }
        #expect(silence.isResponsive)
    }

    @Test func `keeps to the time of the supervisor`() {
        // Four times within its half: systemd asks for two.
        #expect(limits(30, supervisor: 2_000).tickMilliseconds == 250)
        #expect(limits(30, supervisor: 2_000).responsiveMilliseconds == 1_000)
        #expect(limits(4, supervisor: 60_000).responsiveMilliseconds == 2_000)
        #expect(limits(0).responsiveMilliseconds == 15_000)
        #expect(limits(0, supervisor: 1).tickMilliseconds > 0)
    }

    /// A loop whose handler does not return until the watchdog has found it.
    private final class Hanging: LoopHandler {
        let loop: Loop
        let isFound: Guarded<Bool>
        var turnsLeft = 3

        init(_ loop: Loop, _ isFound: Guarded<Bool>) {
            self.loop = loop
            self.isFound = isFound
        }

        func turnEnded() {
            turnsLeft -= 1
            guard turnsLeft == 0 else { return }
            #expect(isFound.wait(withinMilliseconds: 60_000))
            loop.stop()
        }

        func wokenUp() {}
        func timerFired() {}
        func signalReceived(_ signal: CInt) {}
        func streamAccepted(_ id: StreamID) {}
        func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {}
        func streamEnded(_ id: StreamID, _ reason: StreamEnd) {}
        func streamDrained(_ id: StreamID) {}
        func streamClosed(_ id: StreamID) {}
        func acceptFailed(_ error: UVError) {}
    }

    @Test func `wakes a loop that waits, and finds one that hangs`() throws {
        let loop = try Loop()
        defer { loop.close() }
        let isFound = Guarded(false)
        let found = Guarded("")
        let watchdog = Watchdog(limits(1), whenResponsive: {}) { name, seconds in
            found.withLock { $0 = "\(name) for \(seconds) s" }
            isFound.set()
        }
        let watch = try watchdog.watch([(name: "loop 7", wakeup: loop.wakeup)])
        loop.run(Hanging(loop, isFound))
        watch.stop()
        #expect(found.withLock { $0 } == "loop 7 for 1 s")
        #expect(!watchdog.isResponsive)
    }
}
