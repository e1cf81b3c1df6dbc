import EventLoop
import Synchronization
import Testing

@Suite struct WakeupTests {
    @Test func `many wakes before a turn are one`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        for _ in 0..<1_000 { loop.wakeup.wake() }
        recorder.run(until: { recorder.wakeCount > 0 })
        #expect(recorder.wakeCount == 1)
        loop.close()
    }

    @Test func `no wake of any thread is lost`() throws {
        let loop = try Loop()
        let recorder = Recorder(loop)
        let posted = Counter()
        let wakeup = loop.wakeup
        let threads = (0..<4).map { _ in
            Thread {
                for _ in 0..<10_000 {
                    posted.value.add(1, ordering: .relaxed)
                    wakeup.wake()
                }
                return true
            }
        }
        // Were a wake lost, the last posts would not be seen and the loop would wait for ever.
        var seen = 0
        recorder.onWokenUp = { seen = posted.value.load(ordering: .relaxed) }
        recorder.run(until: { seen == 40_000 })
        for thread in threads { #expect(thread.join()) }
        #expect(recorder.wakeCount <= 40_000)
        loop.close()
    }

    @Test func `waking a loop that is being closed is harmless`() throws {
        for _ in 0..<50 {
            let loop = try Loop()
            let wakeup = loop.wakeup
            let isClosed = Counter()
            let thread = Thread {
                while isClosed.value.load(ordering: .relaxed) == 0 { wakeup.wake() }
                wakeup.wake()
                return true
            }
            loop.close()
            isClosed.value.add(1, ordering: .relaxed)
            #expect(thread.join())
        }
    }

    @Test func `a wakeup may outlive its loop`() throws {
        let wakeup: Wakeup
        do {
            let loop = try Loop()
            wakeup = loop.wakeup
            loop.close()
        }
        wakeup.wake()
    }
}

private final class Counter: Sendable {
    let value = Atomic(0)
}
