public import Containers
internal import Dispatch
internal import Foundation
internal import GRDB
internal import Synchronization

/// Stores everything that must survive a restart, in one SQLite database and on a thread of its
/// own.
///
/// Its life: `open`, `load` everything, `start` the thread, `submit` writes, `stop`. What is
/// submitted while a transaction is being committed forms the next one, so that a thousand requests
/// cost one `fsync`. It never reads a clock for what it stores.
///
/// A write with a ticket is reported as committed when it is durable, or as failed when it is not
/// stored and never will be. A write without one is *lazy*: when the disk fails, the newest for
/// each key is retained and written before anything else, as soon as the disk recovers.
public final class Store: Sendable {
    private enum Phase {
        case opened
        case running(BackupSocket?)
        case stopped(StopReport)
    }

    /// The thread holds this lock while it runs, and so has exclusive use of the writer.
    private let writer: Mutex<Writer>
    private let phase = Mutex(Phase.opened)
    private let inbox = Inbox()
    private let ended = DispatchSemaphore(value: 0)
    private let sharedCounters: SharedStoreCounters
    private let tuning: StoreTuning
    private let files: StoreFiles

    /// When the database was last written before it was opened, in milliseconds since 1970 by
    /// the clock of that time; nil for a new one.
    public let lastWritten: Int64?
    /// A number for the state of the database when it was opened.
    public let stampAtOpening: UInt64

    private init(
        _ writer: sending Writer, _ tuning: StoreTuning, lastWritten: Int64?, stamp: UInt64
    ) {
        self.lastWritten = lastWritten
        stampAtOpening = stamp
        sharedCounters = writer.counters
        self.tuning = tuning
        files = writer.files
        self.writer = Mutex(writer)
    }

    /// Opens the store in `directory`, and creates both if they are missing.
    ///
    /// Reads the whole database once to check it: 0.11 s per million rows.
    /// - Throws: why not, in one sentence; existing files are unchanged.
    public static func open(
        directory: String, durability: Durability
    ) throws(StoreFileError) -> Store {
        try open(directory: directory, durability: durability, tuning: StoreTuning())
    }

    package static func open(
        directory: String, durability: Durability, tuning: StoreTuning
    ) throws(StoreFileError) -> Store {
        let files = StoreFiles(directory: directory)
        let (lock, isNew) = try prepare(files)
        let written = [files.written(files.database), files.written(files.log)]
        let lastWritten = isNew ? nil : written.compactMap(\.self).max()
        let stamp = files.stamp
        if !isNew { try Inspection.inspect(files) }
        let writer = try Writer(files, lock: lock, durability: durability, tuning: tuning)
        // Only now is the database certainly this process's alone.
        files.removeSharedMemory()
        return Store(writer, tuning, lastWritten: lastWritten, stamp: stamp)
    }

    /// Creates what is missing of the directory and its database.
    /// - Throws: why not, in one sentence; with the reason `diskFull` another attempt may succeed.
    public static func create(directory: String) throws(StoreFileError) {
        _ = try prepare(StoreFiles(directory: directory))
    }

    private static func prepare(
        _ files: StoreFiles
    ) throws(StoreFileError) -> (lock: DirectoryLock, isNew: Bool) {
        try files.prepareDirectory()
        let lock = try DirectoryLock(files)
        files.removeUnfinished()
        let isNew = try !files.databaseExists()
        if isNew { try Creation.create(files) }
        return (lock, isNew)
    }

    /// The store's counters.
    public var counters: StoreCounters { sharedCounters.snapshot }

    /// The durations of transactions, from the first write to the end of the commit.
    public var commitTimes: DurationHistogram { sharedCounters.commitTimes }

    // MARK: Reading

    /// Passes every row to `reader`. To be called before `start`.
    /// - Throws: if a row cannot be read.
    public func load(_ reader: inout some StoreReader & ~Copyable) throws(StoreFileError) {
        let (queue, files, reserved) = opened()
        do {
            try load(from: queue, numbersReserved: reserved, &reader)
        } catch {
            throw Inspection.fileError(error, files)
        }
    }

    /// The readers within the service, and the numbers that tell where one begins that is new: that
    /// of this database, and the highest sequence number that may have been used. To be called
    /// before `start`.
    /// - Throws: if a row cannot be read.
    public func readers() throws(StoreFileError) -> (
        rows: [ReaderRow], identity: Int64, sequence: Int64
    ) {
        let (queue, files, reserved) = opened()
        do {
            return try queue.inDatabase { db in
                let numbers = try loadNumbers(db, numbersReserved: reserved)
                return (try loadReaders(db), numbers.identity ?? 0, numbers.reserved ?? 0)
            }
        } catch {
            throw Inspection.fileError(error, files)
        }
    }

    func opened() -> (DatabaseQueue, StoreFiles, numbersReserved: Int64) {
        let (queue, files, reserved) = phase.withLock { phase in
            guard case .opened = phase else { preconditionFailure("load after start") }
            return writer.withLock { ($0.queue, $0.files, $0.numbersReserved) }
        }
        guard let queue else { preconditionFailure("load from a closed store") }
        return (queue, files, reserved)
    }

    // MARK: Writing

    /// Starts the thread.
    ///
    /// `outcome` is called on it after each transaction that has a write with a ticket, with the
    /// outcomes in the order of submission; `answered` with the answers to questions, after the
    /// outcomes of all writes that were submitted before them; `becameIdle` when it has been idle
    /// for a while and has freed its cache; `backupsUnavailable` before it returns, if
    /// `Backup` cannot reach the store.
    public func start(
        outcome: @escaping @Sendable ([Outcome]) -> Void,
        answered: @escaping @Sendable ([ReadOutcome]) -> Void = { _ in },
        becameIdle: @escaping @Sendable () -> Void = {},
        backupsUnavailable: (_ reason: String) -> Void = { _ in }
    ) {
        phase.withLock { phase in
            guard case .opened = phase else { preconditionFailure("start a second time") }
            phase = .running(BackupSocket(files, inbox, unavailable: backupsUnavailable))
        }
        let thread = Thread { [self] in
            // `Thread.name` has no effect in a thread that begins before `start` has returned.
            try? Data("store".utf8).write(to: URL(filePath: "/proc/thread-self/comm"))
            run(outcome, answered, becameIdle)
            ended.signal()
        }
        thread.start()
    }

    /// Submits writes, to be carried out in this order.
    ///
    /// Costs a lock and an append.
    public func submit(_ batch: consuming [Submission]) {
        guard !batch.isEmpty else { return }
        sharedCounters.submitted(count: batch.count)
        inbox.add(batch)
    }

    /// Asks for what is stored and not kept in memory. Costs a lock and an append.
    public func submit(_ read: Read, token: UInt64) {
        inbox.add(ReadRequest(token: token, read: read))
    }

    /// Writes what has been submitted, closes the database and ends the thread.
    ///
    /// Blocks until that is done; the last outcomes are reported before it returns. Nothing may be
    /// submitted afterwards. Only the first call has an effect.
    @discardableResult
    public func stop() -> StopReport {
        phase.withLock { phase in
            switch phase {
            case .opened:
                writer.withLock { $0.close() }
            case .running(let backups):
                backups?.close()
                inbox.close()
                ended.wait()
            case .stopped(let report):
                return report
            }
            let report = StopReport(lostWrites: counters.retained)
            phase = .stopped(report)
            return report
        }
    }

    /// The thread: round after round, until the last one.
    private func run(
        _ report: Writer.Report, _ answered: ([ReadOutcome]) -> Void, _ becameIdle: () -> Void
    ) {
        writer.withLock { writer in
            var backoffMilliseconds = tuning.backoffMillisecondsMin
            var isIdle = false
            while true {
                inbox.gather(milliseconds: tuning.gatherMilliseconds)
                let contents = inbox.take()
                let isRetry = contents.isEmpty && !contents.isLast
                if isRetry {
                    let pause =
                        writer.hasRetained
                        ? backoffMilliseconds : isIdle ? nil : tuning.idleMilliseconds
                    if inbox.wait(milliseconds: pause) == .woken { continue }
                    guard writer.hasRetained else {
                        writer.releaseMemory()
                        becameIdle()
                        isIdle = true
                        continue
                    }
                }
                isIdle = false
                do throws(StoreError) {
                    try writer.perform(contents.submissions, report)
                    backoffMilliseconds = tuning.backoffMillisecondsMin
                } catch {
                    if isRetry {
                        backoffMilliseconds = min(
                            backoffMilliseconds * 2, tuning.backoffMillisecondsMax)
                    }
                }
                if !contents.reads.isEmpty { answered(writer.answer(contents.reads)) }
                for action in contents.actions { action(writer) }
                if contents.isLast { break }
            }
            writer.close()
        }
    }
}

/// The result of a stop.
public struct StopReport: Sendable, Equatable {
    /// The number of keys whose lazy writes could not be stored and are lost.
    public let lostWrites: Int
}
