internal import Glibc

/// A value that several threads use, behind a lock.
///
/// As `Synchronization.Mutex`, but with a lock of the C library: the thread sanitizer knows those,
/// and does not see Swift's, which waits in code that is not instrumented.
public final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    // SAFETY: `value` is touched only in `withLock`, by one thread at a time.
    @usableFromInline var value: Value
    @usableFromInline let lock = ThreadLock()

    /// Guards a value.
    public init(_ value: consuming sending Value) {
        self.value = value
    }

    /// Calls `body` while no other thread has the value. It must not keep references to its parts.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// A lock of the C library.
@safe @usableFromInline final class ThreadLock: @unchecked Sendable {
    // SAFETY: what it points to is a lock, made for several threads.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    @usableFromInline init() {
        unsafe mutex = .allocate(capacity: 1)
        precondition(unsafe pthread_mutex_init(mutex, nil) == 0)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    @usableFromInline func lock() {
        precondition(unsafe pthread_mutex_lock(mutex) == 0)
    }

    @usableFromInline func unlock() {
        precondition(unsafe pthread_mutex_unlock(mutex) == 0)
    }
}
