import Glibc
import Synchronization

/// A thread of its own for a test's blocking half; the test must join it.
struct Thread<Value: Sendable> {
    private let result = ThreadResult<Value>()
    private let handle: pthread_t

    init(_ body: @escaping @Sendable () -> Value) {
        let work = ThreadWork { [result] in
            let value = body()
            result.value.withLock { $0 = value }
        }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                if let argument {
                    Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().body()
                }
                return nil
            }, Unmanaged.passRetained(work).toOpaque())
        precondition(failure == 0)
        handle = thread
    }

    /// Waits for the thread's end.
    func join() -> Value {
        pthread_join(handle, nil)
        guard let value = result.value.withLock({ $0 }) else {
            preconditionFailure("a thread ended without a result")
        }
        return value
    }
}

private final class ThreadResult<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}

private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
