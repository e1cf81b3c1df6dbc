internal import CLibUV
internal import Dispatch
internal import Glibc

extension Loop {
    /// Resident memory of the process in bytes; 0 if unknown.
    ///
    /// Reads /proc: some ten microseconds.
    public var memoryBytes: UInt64 {
        var bytes = 0
        return unsafe uv_resident_set_memory(&bytes) == 0 ? UInt64(bytes) : 0
    }

    /// CPU time of the process in microseconds, user and kernel.
    public var processorMicroseconds: UInt64 {
        var usage = uv_rusage_t()
        guard unsafe uv_getrusage(&usage) == 0 else { return 0 }
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return UInt64(clamping: seconds) * 1_000_000 + UInt64(clamping: microseconds)
    }

    /// Returns free memory to the kernel. Any thread; takes milliseconds if much has been freed.
    ///
    /// glibc does so by itself only at the end of its heaps.
    public static func returnFreeMemory() {
        _ = malloc_trim(0)
    }

    /// Bytes that the process has allocated and not freed; 0 if unknown. Of what is resident, the
    /// rest is code, stacks, and what has been freed and not returned to the kernel.
    ///
    /// Walks the lists of free blocks: some ten microseconds, a millisecond where there are many.
    public var allocatedBytes: UInt64 {
        let info = mallinfo2()
        return UInt64(info.uordblks) + UInt64(info.hblkhd)
    }

    /// Returns free memory to the kernel on another thread, and comes back at once.
    public func returnFreeMemory() {
        Self.memoryQueue.async { Self.returnFreeMemory() }
    }

    private static let memoryQueue = DispatchQueue(label: "porchlight.memory")

    /// The memory available to the process: the limit of its control group, or that of the machine.
    public static var memoryBytesAvailable: UInt64 {
        let constrained = uv_get_constrained_memory()
        let total = uv_get_total_memory()
        return constrained == 0 ? total : min(constrained, total)
    }
}
