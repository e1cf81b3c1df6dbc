import CLibUV
import Glibc
import Synchronization

/// Wakes a loop from any thread; the only part of a loop that other threads may hold.
///
/// It is an eventfd(2) that the loop polls, and not a `uv_async_t`: where the woken thread takes
/// the processor of the thread that wakes it, inside the system call, it would wait for that
/// thread's return from `uv_async_send`, by 997 pauses of the processor and a `sched_yield`. With
/// two connection loops on one processor that was a quarter of the time of an event.
public final class Wakeup: Sendable {
    /// Set until the loop has begun to react. Calls meanwhile need nothing else.
    private let isPending = Atomic(false)
    /// Turns that the loop has ended, and one more while it runs; 0: it does not run.
    private let turns = Atomic<UInt64>(0)
    // The lock keeps the descriptor open while it is written to: the loop may be closed between the
    // moment a thread decides to wake it and the system call. Negative: the loop is closed.
    private let descriptor: Guarded<CInt>

    /// Opens a descriptor, which `close` closes.
    init() throws(UVError) {
        let opened = cuv_eventfd()
        guard opened >= 0 else {
            throw UVError(code: uv_translate_sys_error(errno), operation: "eventfd")
        }
        descriptor = Guarded(opened)
    }

    /// Makes the loop call `wokenUp`; several calls may become one, and none is lost.
    ///
    /// What was done before this call is visible in that `wokenUp`. After the loop is closed this
    /// is a no-op. Costs one system call, or none if an earlier call is pending.
    public func wake() {
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        descriptor.withLock { descriptor in
            // It cannot fail: the counter is far from its maximum.
            if descriptor >= 0 { _ = eventfd_write(descriptor, 1) }
        }
    }

    /// A number that changes with each turn of the loop; nil: it does not run. Any thread.
    public var turnNumber: UInt64? {
        let number = turns.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    /// The loop begins to run. Its thread, as in the following.
    func beginTurns() { turns.store(1, ordering: .relaxed) }

    /// The loop has ended a turn, while it runs.
    func endTurn() {
        turns.store(turns.load(ordering: .relaxed) + 1, ordering: .relaxed)
    }

    /// The loop does not run any more.
    func endTurns() { turns.store(0, ordering: .relaxed) }

    /// The descriptor that the loop polls.
    var polled: CInt { descriptor.withLock { $0 } }

    /// The loop reacts: calls of `wake` from now on cause another `wokenUp`.
    func takePending(_ descriptor: CInt) {
        var count: UInt64 = 0
        _ = unsafe eventfd_read(descriptor, &count)
        // After the counter is read: a thread that adds to it sooner would not be noticed.
        _ = isPending.exchange(false, ordering: .acquiringAndReleasing)
    }

    /// Closes the descriptor.
    func close() {
        descriptor.withLock { descriptor in
            _ = Glibc.close(descriptor)
            descriptor = -1
        }
    }
}
