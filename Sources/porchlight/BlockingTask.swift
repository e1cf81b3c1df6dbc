import Dispatch
import Synchronization

/// Carries out an asynchronous function on this thread, and waits for its end.
///
/// Not on the runtime's shared pool: `TaskLoop` says why.
func waitFor<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let thread = CallingThread()
    let value = Mutex<Value?>(nil)
    Task(executorPreference: thread) {
        let result = await body()
        value.withLock { $0 = result }
        thread.end()
    }
    thread.run()
    guard let result = value.withLock({ $0 }) else {
        preconditionFailure("a task has ended without a result")
    }
    return result
}

/// Runs the jobs of a task on the thread that waits for them.
private final class CallingThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    /// Signalled for each job, and at the end.
    private let event = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        event.signal()
    }

    func end() { event.signal() }

    func run() {
        while true {
            event.wait()
            guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
