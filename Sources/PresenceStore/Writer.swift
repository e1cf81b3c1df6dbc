internal import Dispatch
internal import GRDB

/// Turns submissions into transactions, and survives those that fail.
///
/// A round is the retained lazy writes of earlier failures, followed by the new submissions,
/// divided into transactions of a limited size. When one fails, the round ends: its writes with a
/// ticket are reported as failed immediately, and its lazy writes are retained and come first in
/// the next round. So for each key a newer write always follows an older one.
///
/// A transaction whose commit failed, or that met a disk error, costs the connection: SQLite's view
/// may then differ from the disk. The log is cut back to the last good commit, the connection is
/// closed, and the next round opens another one. Outcomes are reported after that, so that no
/// failed write can reappear.
final class Writer {
    /// Reports the outcomes of one transaction.
    typealias Report = @Sendable ([Outcome]) -> Void

    let files: StoreFiles
    let counters = SharedStoreCounters()
    private var lock: DirectoryLock?
    private let durability: Durability
    private let tuning: StoreTuning
    private var connection: WriteConnection?
    /// What must be cut from the log before the database may be opened again.
    private var tail: LogTail?
    private var retained = RetainedWrites()
    /// The state of the database file, which must not change since it is being copied.
    private var held: UInt64?

    init(
        _ files: StoreFiles, lock: DirectoryLock, durability: Durability, tuning: StoreTuning
    ) throws(StoreFileError) {
        self.files = files
        self.lock = lock
        self.durability = durability
        self.tuning = tuning
        do {
            connection = try WriteConnection(files, durability, tuning)
        } catch {
            throw Inspection.fileError(error, files)
        }
    }

    /// Whether lazy writes wait for the disk to recover.
    var hasRetained: Bool { !retained.isEmpty }

    /// The queue from which everything is read at startup.
    var queue: DatabaseQueue? { connection?.queue }

    // MARK: Rounds

    /// Writes the retained writes and then `submissions`.
    /// - Throws: the cause; everything has been reported or retained by then.
    func perform(_ submissions: [Submission], _ report: Report) throws(StoreError) {
        let round = retained.isEmpty ? submissions : retained.drain() + submissions
        defer {
            counters.finished(
                submissionCount: submissions.count, retainedKeyCount: retained.keyCount)
        }
        var rest = round[...]
        while !rest.isEmpty {
            let transaction = rest.prefix(transactionCount(of: rest))
            do throws(StoreError) {
                try commit(transaction)
            } catch {
                retainLazyWrites(of: rest)
                reportFailure(error, of: rest, report)
                throw error
            }
            noteNumbers(transaction)
            reportOutcome(.committed, transaction, report)
            rest = rest.dropFirst(transaction.count)
            checkpointIfDue()
        }
    }

    /// The number of submissions in the next transaction: at least one.
    private func transactionCount(of rest: ArraySlice<Submission>) -> Int {
        var count = 0
        var rows = 0
        for submission in rest {
            rows += submission.write.rowCount
            if count > 0 && rows > tuning.transactionRowsMax { break }
            count += 1
        }
        precondition(count > 0, "a transaction without writes")
        return count
    }

    private func commit(_ transaction: ArraySlice<Submission>) throws(StoreError) {
        let start = DispatchTime.now().uptimeNanoseconds
        do throws(StoreError) {
            let connection = try openConnection()
            do throws(WriteConnection.CommitError) {
                try connection.commit(transaction)
            } catch {
                if let tail = error.tail { abandonConnection(tail) }
                throw error.cause
            }
        } catch {
            counters.failed()
            throw error
        }
        let microseconds = (DispatchTime.now().uptimeNanoseconds - start) / 1_000
        measureFiles()
        counters.cached(bytes: connection?.cacheBytes ?? 0)
        counters.committed(
            rowCount: transaction.reduce(0) { $0 + $1.write.rowCount },
            microseconds: Int(microseconds))
    }

    private func measureFiles() {
        counters.measured(fileBytes: files.size(of: files.database) + files.size(of: files.log))
    }

    private func noteNumbers(_ transaction: ArraySlice<Submission>) {
        for submission in transaction {
            guard case .reserveSequence(let end) = submission.write else { continue }
            lock?.note(numbersReserved: end)
        }
    }

    private func retainLazyWrites(of rest: ArraySlice<Submission>) {
        for submission in rest where submission.ticket == nil {
            retained.absorb(submission.write)
        }
    }

    private func reportOutcome(
        _ result: Outcome.Result, _ submissions: ArraySlice<Submission>, _ report: Report
    ) {
        let outcomes = submissions.compactMap { submission in
            submission.ticket.map { Outcome(ticket: $0, result: result) }
        }
        if !outcomes.isEmpty { report(outcomes) }
    }

    /// A service must reserve numbers before it serves. On a full disk they are reserved in the
    /// file that locks the directory, and in the database as soon as there is space again.
    private func reportFailure(
        _ error: StoreError, of submissions: ArraySlice<Submission>, _ report: Report
    ) {
        let outcomes = submissions.compactMap { submission -> Outcome? in
            guard let ticket = submission.ticket else { return nil }
            guard error.kind == .diskFull, case .reserveSequence(let end) = submission.write,
                lock?.reserve(numbersUpTo: end) == true
            else { return Outcome(ticket: ticket, result: .failed(error)) }
            retained.absorb(submission.write)
            return Outcome(ticket: ticket, result: .reserved(error))
        }
        if !outcomes.isEmpty { report(outcomes) }
    }

    /// Numbers that are reserved beside the database; 0: none.
    var numbersReserved: Int64 { lock?.numbersReserved ?? 0 }

    // MARK: Reading

    /// Answers questions. Keys of a password that could not be stored or removed yet count as if
    /// they were. A content that could not be removed yet is still read: the caller knows which
    /// messages were taken.
    func answer(_ requests: [ReadRequest]) -> [ReadOutcome] {
        requests.map { ReadOutcome(token: $0.token, result: result(of: $0.read)) }
    }

    private func result(of read: Read) -> ReadOutcome.Result {
        switch read {
        case .credential(let account):
            if let row = retained.credential(of: account) { return .credential(.success(row)) }
            return .credential(
                content { rows throws(StoreError) in
                    try rows.credentials.credential(of: account)
                })
        case .card(let account):
            return .card(
                content { rows throws(StoreError) in try rows.cards.content(of: account) })
        case .messages(let ids): return .messages(contents(of: ids))
        case .undelivered(let ids): return .undelivered(contents(of: ids))
        }
    }

    private func contents(of ids: [Int64]) -> ReadOutcome.Content<[MessageContentRow]> {
        content { rows throws(StoreError) in try rows.messages.contents(ids) }
    }

    private func content<Value>(
        _ read: (WriteStatements) throws(StoreError) -> Value
    ) -> ReadOutcome.Content<Value> {
        do throws(StoreError) {
            return .success(try openConnection().read(read))
        } catch {
            if error.discreditsConnection { closeConnection() }
            return .failure(error)
        }
    }

    /// Frees memory that is needed only under load.
    func releaseMemory() {
        connection?.releaseMemory()
        counters.cached(bytes: connection?.cacheBytes ?? 0)
    }

    // MARK: The connection

    private func openConnection() throws(StoreError) -> WriteConnection {
        if let connection { return connection }
        precondition(lock != nil, "a closed store is opened")
        if let tail {
            try tail.cut(from: files.log, faults: tuning.faults)
            self.tail = nil
        }
        do {
            try tuning.faults?.check(.reopen)
            let connection = try WriteConnection(files, durability, tuning)
            self.connection = connection
            return connection
        } catch {
            throw StoreError(error)
        }
    }

    private func abandonConnection(_ tail: LogTail) {
        do throws(StoreError) {
            try tail.cut(from: files.log, faults: tuning.faults)
        } catch {
            self.tail = tail
        }
        closeConnection()
    }

    /// After an error, where all that was committed is on the disk. The next round opens another.
    private func closeConnection() {
        connection?.close()
        connection = nil
    }

    private func checkpointIfDue() {
        guard held == nil, let connection, connection.logExceeds(pages: tuning.checkpointPages)
        else {
            return
        }
        do throws(StoreError) {
            _ = try connection.checkpoint()
            measureFiles()
        } catch {
            // The log still contains everything; the next connection reads it.
            counters.failed()
            if error.discreditsConnection { closeConnection() }
        }
    }

    /// Closes the database, with everything in one file, and releases the directory.
    func close() {
        connection?.closeForGood()
        connection = nil
        lock = nil
    }

    // MARK: Copies

    /// Keeps the database file as it is until `release`, whatever is committed meanwhile. Returns
    /// how many bytes of the log belong to a copy; what follows them does not.
    /// - Throws: if the database cannot be opened.
    func hold() throws(StoreError) -> Int {
        precondition(held == nil, "two copies at a time")
        let connection = try openConnection()
        // A full disk may have no room for it: then the log belongs to the copy.
        let isInFile = (try? connection.checkpoint()) == true
        held = files.stamp(of: [files.database])
        return isInFile ? 0 : connection.logBytes
    }

    /// The copy is complete, or given up. Returns whether the file was the same all the time: while
    /// the connection is closed after a failure, another program may have opened it.
    func release() -> Bool {
        let isSame = held == files.stamp(of: [files.database])
        held = nil
        checkpointIfDue()
        return isSame
    }
}
