import CLibUV
import Glibc

/// A thread with a name, which `top -H` and /proc show.
public final class NamedThread: Sendable {
    private let thread: pthread_t
    private let hasEnded = Guarded(false)

    /// What a new thread is given.
    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        let hasEnded: Guarded<Bool>

        init(
            name: String, body: @escaping @Sendable () -> Void, hasEnded: Guarded<Bool>
        ) {
            self.name = name
            self.body = body
            self.hasEnded = hasEnded
        }
    }

    /// Starts a thread. Of the name, the kernel keeps 15 bytes. `join` or `detach` is to be called.
    public init(name: String, _ body: @escaping @Sendable () -> Void) throws(UVError) {
        let start = unsafe Unmanaged.passRetained(
            Start(name: name, body: body, hasEnded: hasEnded))
        var thread = pthread_t()
        let failure = unsafe pthread_create(&thread, nil, threadBegun, start.toOpaque())
        guard failure == 0 else {
            unsafe start.release()
            throw UVError(code: uv_translate_sys_error(failure), operation: "pthread_create")
        }
        self.thread = thread
    }

    /// Waits until the thread has ended, at most this time. Returns whether it has.
    ///
    /// After it has returned true it must not be called again.
    public func join(withinMilliseconds milliseconds: UInt64) -> Bool {
        // Not pthread_clockjoin_np, which waits for a time, too: the thread sanitizer does not know
        // it, and takes what the thread has done for races with what follows.
        guard hasEnded.wait(withinMilliseconds: milliseconds) else { return false }
        return pthread_join(thread, nil) == 0
    }

    /// Leaves the thread alone: nothing waits for its end. `join` must not be called.
    public func detach() { pthread_detach(thread) }

    fileprivate static func begin(_ start: UnsafeMutableRawPointer) {
        let start = unsafe Unmanaged<Start>.fromOpaque(start).takeRetainedValue()
        unsafe start.name.withCString { unsafe cuv_name_thread($0) }
        start.body()
        start.hasEnded.set()
    }
}

// MARK: - Trampolines

private func threadBegun(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let start = unsafe start { unsafe NamedThread.begin(start) }
    return nil
}
