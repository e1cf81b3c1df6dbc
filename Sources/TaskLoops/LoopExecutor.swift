import NIOCore

/// Runs tasks on the thread of an event loop.
///
/// A task that waits for NIO then stays on one thread, which saves two thread switches per wait.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// An executor on the thread of `loop`, which must outlive its tasks.
    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// Schedules a job of a task.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
