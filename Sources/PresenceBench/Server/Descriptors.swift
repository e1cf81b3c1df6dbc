import Glibc

/// The number of files and sockets that this process may have open.
enum Descriptors {
    /// What the loop, the histogram's file and the standard streams take, generously.
    static let spare = 100

    /// Raises the bound as far as is allowed, and says how far that is.
    static func raise() -> Int {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// Refuses a run that needs more connections than there can be.
    static func require(_ connections: Int) throws(BenchFailure) {
        let bound = raise()
        guard connections + spare <= bound else {
            throw BenchFailure(
                "\(connections) connections need \(connections + spare) descriptors, and "
                    + "`ulimit -Hn` allows \(bound): raise it, or ask for fewer.")
        }
    }
}
