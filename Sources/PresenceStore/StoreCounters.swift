internal import Containers
internal import Synchronization

/// The store's counters, for `stats` and the log.
public struct StoreCounters: Sendable, Equatable {
    /// Submissions that are waiting or being written.
    public var pending = 0
    /// Keys of failed lazy writes that are retained.
    public var retained = 0
    /// Transactions committed.
    public var commits = 0
    /// Rows written by committed transactions.
    public var rows = 0
    /// Transactions that failed.
    public var failures = 0
    /// The duration of the last transaction, in microseconds.
    public var lastCommitMicroseconds = 0
    /// Bytes of the page cache.
    public var cacheBytes = 0
    /// Bytes of the database and its log on disk, after the last commit.
    public var fileBytes = 0

    /// Creates counters at zero.
    public init() {}
}

/// The counters, written by the store's thread and read by others.
final class SharedStoreCounters: Sendable {
    private let pending = Atomic<Int>(0)
    private let retained = Atomic<Int>(0)
    private let commits = Atomic<Int>(0)
    private let rows = Atomic<Int>(0)
    private let failures = Atomic<Int>(0)
    private let lastCommitMicroseconds = Atomic<Int>(0)
    private let times = Mutex(DurationHistogram())
    private let cacheBytes = Atomic<Int>(0)
    private let fileBytes = Atomic<Int>(0)

    func submitted(count: Int) {
        pending.add(count, ordering: .relaxed)
    }

    func committed(rowCount: Int, microseconds: Int) {
        commits.add(1, ordering: .relaxed)
        rows.add(rowCount, ordering: .relaxed)
        lastCommitMicroseconds.store(microseconds, ordering: .relaxed)
        times.withLock { $0.observe(microseconds: UInt64(max(0, microseconds))) }
    }

    func cached(bytes: Int) {
        cacheBytes.store(bytes, ordering: .relaxed)
    }

    func measured(fileBytes bytes: Int) {
        fileBytes.store(bytes, ordering: .relaxed)
    }

    func failed() {
        failures.add(1, ordering: .relaxed)
    }

    func finished(submissionCount: Int, retainedKeyCount: Int) {
        pending.subtract(submissionCount, ordering: .relaxed)
        retained.store(retainedKeyCount, ordering: .relaxed)
    }

    /// The durations of transactions.
    var commitTimes: DurationHistogram { times.withLock { $0 } }

    var snapshot: StoreCounters {
        var counters = StoreCounters()
        counters.pending = pending.load(ordering: .relaxed)
        counters.retained = retained.load(ordering: .relaxed)
        counters.commits = commits.load(ordering: .relaxed)
        counters.rows = rows.load(ordering: .relaxed)
        counters.failures = failures.load(ordering: .relaxed)
        counters.lastCommitMicroseconds = lastCommitMicroseconds.load(ordering: .relaxed)
        counters.cacheBytes = cacheBytes.load(ordering: .relaxed)
        counters.fileBytes = fileBytes.load(ordering: .relaxed)
        return counters
    }
}
