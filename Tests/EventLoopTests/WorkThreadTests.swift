import Glibc
import Testing

@testable import EventLoop

@Suite struct `A work thread` {
    /// What has been carried out.
    private final class Done: Sendable {
        let numbers = Guarded<[Int]>([])
        let isComplete = Guarded(false)

        func note(_ number: Int, of count: Int) {
            numbers.withLock { $0.append(number) }
            if number == count - 1 { isComplete.set() }
        }
    }

    @Test func `carries out work in order, on one thread that is not the caller's`() {
        let thread = WorkThread(name: "work")
        let done = Done()
        let threads = Guarded<Set<pthread_t>>([])
        for number in 0..<1_000 {
            thread.add {
                threads.withLock { _ = $0.insert(pthread_self()) }
                done.note(number, of: 1_000)
            }
        }
        #expect(done.isComplete.wait(withinMilliseconds: 30_000))
        #expect(done.numbers.withLock { $0 } == Array(0..<1_000))
        #expect(threads.withLock { $0.count } == 1)
        #expect(!threads.withLock { $0.contains(pthread_self()) })
    }

    @Test func `finishes its work when nothing refers to it any more`() {
        let done = Done()
        var thread: WorkThread? = WorkThread(name: "work")
        for number in 0..<1_000 { thread?.add { done.note(number, of: 1_000) } }
        thread = nil
        #expect(done.isComplete.wait(withinMilliseconds: 30_000))
        #expect(done.numbers.withLock { $0 } == Array(0..<1_000))
    }
}
