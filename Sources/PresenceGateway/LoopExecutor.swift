public import NIOCore

/// Runs tasks on the thread of an event loop.
///
/// What waits for NIO and is waited for by NIO then stays on one thread, which saves two
/// switches of threads for each wait.
public final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// Tasks run on the thread of `loop`, which must outlive them.
    public init(_ loop: any EventLoop) {
        self.loop = loop
    }

    /// Runs a piece of a task soon.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
