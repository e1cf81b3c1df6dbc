import Glibc

/// CPU time of this process so far, in nanoseconds.
func cpuNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Adds up CPU time of what is measured and leaves out what is not.
struct Stopwatch {
    private var nanoseconds: UInt64 = 0
    private var operations = 0

    /// Measures `body`, which gives how many operations it did.
    mutating func measure(_ body: () -> Int) {
        let begin = cpuNanoseconds()
        operations += body()
        nanoseconds += cpuNanoseconds() - begin
    }

    /// Nanoseconds of an operation.
    var each: Double { Double(nanoseconds) / Double(max(operations, 1)) }
}

/// What of this process is in memory.
func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var size = 0
    var resident = 0
    withUnsafeMutablePointer(to: &size) { size in
        withUnsafeMutablePointer(to: &resident) { resident in
            _ = withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) }
        }
    }
    return resident * Int(sysconf(Int32(_SC_PAGESIZE)))
}
