import Dispatch
import Synchronization

/// Has something done that takes turns with others, and waits for it on this thread.
func waitFor<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let done = DispatchSemaphore(value: 0)
    let value = Mutex<Value?>(nil)
    Task {
        let result = await body()
        value.withLock { $0 = result }
        done.signal()
    }
    done.wait()
    guard let result = value.withLock({ $0 }) else {
        preconditionFailure("it has said that it is done")
    }
    return result
}
