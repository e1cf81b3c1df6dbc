internal import CLibUV
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

extension Guarded {
    /// Wakes the threads that wait for a change.
    func wake() { lock.wakeAll() }

    /// Waits until `body` returns something, and returns that. It is called after each wake.
    func waitFor<Result>(_ body: (inout Value) -> Result?) -> Result {
        lock.lock()
        defer { lock.unlock() }
        // Read again each time, as in `wait`.
        while true {
            if let result = body(&value) { return result }
            lock.wait()
        }
    }
}

extension Guarded where Value == Bool {
    /// Makes it true, and wakes the threads that wait for that.
    public func set() {
        withLock { $0 = true }
        lock.wakeAll()
    }

    /// Waits until it is true, at most this time. Returns whether it is.
    public func wait(withinMilliseconds milliseconds: UInt64) -> Bool {
        let end = uv_hrtime() + milliseconds * 1_000_000
        lock.lock()
        defer { lock.unlock() }
        // Read again each time. In `withLock` the compiler knows that nothing else changes the
        // value, and an optimised build would never see what another thread has set.
        while !value, uv_hrtime() < end { lock.wait(until: end) }
        return value
    }
}

/// A lock of the C library, with a condition that threads wait for.
@safe @usableFromInline final class ThreadLock: @unchecked Sendable {
    // SAFETY: what it points to is a lock, made for several threads.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    @usableFromInline init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        precondition(unsafe pthread_mutex_init(mutex, nil) == 0)
        precondition(unsafe cuv_condition_init(changed) == 0)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    @usableFromInline func lock() {
        precondition(unsafe pthread_mutex_lock(mutex) == 0)
    }

    @usableFromInline func unlock() {
        precondition(unsafe pthread_mutex_unlock(mutex) == 0)
    }

    func wakeAll() { unsafe pthread_cond_broadcast(changed) }

    /// Releases the lock while it waits, until it is woken.
    func wait() { _ = unsafe pthread_cond_wait(changed, mutex) }

    /// Releases the lock while it waits, until then or until it is woken.
    func wait(until nanoseconds: UInt64) {
        _ = unsafe cuv_condition_wait(changed, mutex, nanoseconds)
    }
}
