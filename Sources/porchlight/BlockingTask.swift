import Dispatch
import EventLoop
import Synchronization

/// Carries out an asynchronous function on a thread of its own, and waits for its end.
///
/// Not on the runtime's shared pool: `TaskLoop` says why.
func waitFor<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let thread = WorkThread(name: "task")
    let isDone = DispatchSemaphore(value: 0)
    let value = Mutex<Value?>(nil)
    Task(executorPreference: thread) {
        let result = await body()
        value.withLock { $0 = result }
        isDone.signal()
    }
    withExtendedLifetime(thread) { isDone.wait() }
    guard let result = value.withLock({ $0 }) else {
        preconditionFailure("a task has ended without a result")
    }
    return result
}
