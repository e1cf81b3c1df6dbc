import Glibc

/// The descriptors of this process.
public enum Descriptors {
    /// The most descriptors that one system call checks.
    private static let perCallMax = 1_024

    /// Raises the soft limit on descriptors to the hard limit, and returns it.
    ///
    /// The default soft limit is 1,024 on most machines, which is too low for a server.
    public static func raiseMax() -> Int {
        var limit = current
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 {
                limit = raised
            }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Takes the numbers of standard descriptors that are closed, so that no file or socket gets
    /// them: lines of the log would be written to it. To read or write them fails as before.
    public static func reserveStandard() {
        for descriptor: CInt in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Closes a descriptor that has no other owner.
    public static func close(_ descriptor: CInt) {
        _ = Glibc.close(descriptor)
    }

    /// The limit on open descriptors.
    public static var max: Int { Int(clamping: current.rlim_cur) }

    /// Whether at least `count` more could be opened now.
    ///
    /// Opens none: other threads may need the last ones. poll(2) marks numbers that are not open.
    /// Costs 30 to 60 ns for each number checked, from the highest down, until enough are found.
    public static func hasFree(_ count: Int) -> Bool {
        var missing = count
        var end = max
        var numbers: [pollfd] = []
        while missing > 0, end > 0 {
            let begin = Swift.max(0, end - perCallMax)
            numbers.removeAll(keepingCapacity: true)
            for number in begin..<end {
                numbers.append(pollfd(fd: CInt(clamping: number), events: 0, revents: 0))
            }
            guard unsafe poll(&numbers, nfds_t(numbers.count), 0) >= 0 else { return false }
            missing -= numbers.count { $0.revents & Int16(POLLNVAL) != 0 }
            end = begin
        }
        return missing <= 0
    }

    private static var current: rlimit {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return rlimit(rlim_cur: 1_024, rlim_max: 1_024)
        }
        return limit
    }
}
