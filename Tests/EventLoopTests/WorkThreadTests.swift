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

    /// What two pieces at a time would damage.
    private final class Unguarded: @unchecked Sendable {
        // SAFETY: only pieces of work use it; that these do not overlap is tested.
        var count = 0
    }

    private static let rejected = UVError(code: -11, operation: "pthread_create")

    @Test func `carries out one piece at a time if no thread can be started`() throws {
        let work = WorkThread(name: "work") { _, _ throws(UVError) in throw Self.rejected }
        let unguarded = Unguarded()
        let callers = try (0..<4).map { number in
            try NamedThread(name: "caller \(number)") {
                for _ in 0..<10_000 { work.add { unguarded.count += 1 } }
            }
        }
        for caller in callers { #expect(caller.join(withinMilliseconds: 60_000)) }
        // What was added after a caller's last look is carried out by the one that added it.
        #expect(unguarded.count == 40_000)
    }

    @Test func `carries out work that work adds, if no thread can be started`() {
        let work = WorkThread(name: "work") { _, _ throws(UVError) in throw Self.rejected }
        let done = Done()
        work.add {
            work.add { done.note(1, of: 2) }
            done.note(0, of: 2)
        }
        #expect(done.numbers.withLock { $0 } == [0, 1])
    }

    @Test func `starts a thread as soon as that is possible`() {
        let isPossible = Guarded(false)
        let work = WorkThread(name: "work") { name, body throws(UVError) in
            guard isPossible.withLock({ $0 }) else { throw Self.rejected }
            try NamedThread(name: name, body).detach()
        }
        let done = Done()
        let threads = Guarded<[pthread_t]>([])
        for number in 0..<2 {
            work.add {
                threads.withLock { $0.append(pthread_self()) }
                done.note(number, of: 2)
            }
            isPossible.withLock { $0 = true }
        }
        #expect(done.isComplete.wait(withinMilliseconds: 30_000))
        let seen = threads.withLock { $0 }
        #expect(seen.first == pthread_self() && seen.last != pthread_self())
    }
}
