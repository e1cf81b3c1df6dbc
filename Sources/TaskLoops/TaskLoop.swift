// The tasks of the service run on the thread of an event loop, never on the runtime's shared pool.
// libdispatch looks at the threads of that pool in /proc once a second, and ends the process when
// it cannot open a file there (`_dispatch_workq_monitor_pools`): a client that makes the process
// run out of descriptors could end it.
//
// An unstructured task does not inherit the executor of its creator, and `Task.sleep` resumes
// through the pool: this module has replacements for both. `Tests/SourceRulesTests` finds other
// uses.

import Dispatch
public import NIOCore
import Synchronization

/// An event loop that tasks also run on.
public struct TaskLoop: Sendable {
    /// The event loop.
    public let eventLoop: any EventLoop
    private let executor: LoopExecutor

    /// Tasks run on the thread of `eventLoop`, which must outlive them.
    public init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        executor = LoopExecutor(eventLoop)
    }

    /// Begins a task on the loop.
    @discardableResult
    public func task<Success: Sendable>(
        _ body: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: executor) { await body() }
    }

    /// Waits for a time.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, or the loop ends.
    public func sleep(for time: TimeAmount) async throws(CancellationError) {
        let timer = eventLoop.scheduleTask(in: time) {}
        do {
            try await withTaskCancellationHandler {
                try await timer.futureResult.get()
            } onCancel: {
                timer.cancel()
            }
        } catch {
            throw CancellationError()
        }
    }

    /// Runs `body` as a task on the loop, and waits for its end on this thread, which must not be
    /// the loop's.
    public func wait<Success: Sendable>(
        _ body: @escaping @Sendable () async -> Success
    ) -> Success {
        precondition(!eventLoop.inEventLoop, "a loop cannot wait for itself")
        let isDone = DispatchSemaphore(value: 0)
        let result = Mutex<Success?>(nil)
        task {
            let success = await body()
            result.withLock { $0 = success }
            isDone.signal()
        }
        isDone.wait()
        guard let success = result.withLock({ $0 }) else {
            preconditionFailure("a task has signalled its end without a result")
        }
        return success
    }
}
