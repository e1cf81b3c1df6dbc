import CLibUV

/// Wakes a loop from any thread; the only part of a loop that other threads may hold.
///
/// `uv_async_send` is safe from every thread, but only while the handle lives: the loop may be
/// closed, and the memory freed, between the moment a thread decides to wake it and the call. So
/// the handle's address is behind a lock, under which the loop removes it before `uv_close`. No
/// thread can then be inside `uv_async_send`, and later calls find no address.
public final class Wakeup: Sendable {
    // An address and not a pointer, since a pointer may not leave the loop's region.
    private let address: Guarded<UInt>

    init(_ handle: UnsafeMutablePointer<uv_async_t>) {
        address = Guarded(UInt(bitPattern: handle))
    }

    /// Makes the loop call `wokenUp`; several calls may become one, and none is lost.
    ///
    /// What was done before this call is visible in that `wokenUp`. After the loop is closed this
    /// is a no-op.
    public func wake() {
        address.withLock { address in
            guard let handle = unsafe UnsafeMutablePointer<uv_async_t>(bitPattern: address) else {
                return
            }
            // It cannot fail for a handle that was initialised.
            _ = unsafe uv_async_send(handle)
        }
    }

    func withdraw() {
        address.withLock { $0 = 0 }
    }
}
