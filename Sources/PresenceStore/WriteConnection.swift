internal import GRDB
internal import GRDBSQLite

/// The one connection that writes.
///
/// Used by the store's thread alone, after the start.
@safe final class WriteConnection {
    let queue: DatabaseQueue
    private var statements: Statements?
    /// The pages in the log at the last commit; SQLite reports them through a hook.
    private let logFrames: UnsafeMutablePointer<Int32>
    private let pageBytes: Int
    private let logPath: String
    /// The header of the log at the last good commit or checkpoint; nil if it could not be read.
    private var logHeader: [UInt8]?
    private let faults: InjectedFaults?

    private struct Statements {
        let begin: PreparedStatement
        let commit: PreparedStatement
        let rollback: PreparedStatement
        let writes: WriteStatements

        init(_ db: Database) throws {
            begin = try PreparedStatement(db, "BEGIN IMMEDIATE")
            commit = try PreparedStatement(db, "COMMIT")
            rollback = try PreparedStatement(db, "ROLLBACK")
            writes = try WriteStatements(db)
        }
    }

    /// Why a transaction failed, and what must be cut from the log.
    struct CommitError: Error {
        var cause: StoreError
        /// Nil if the connection can still be used.
        var tail: LogTail?
    }

    /// Opens an existing database of the service, and migrates it to the current schema.
    init(_ files: StoreFiles, _ durability: Durability, _ tuning: StoreTuning) throws {
        queue = try DatabaseQueue(
            path: DatabasePath(files.database).exclusive,
            configuration: Self.configuration(durability, tuning))
        unsafe logFrames = .allocate(capacity: 1)
        unsafe logFrames.initialize(to: 0)
        faults = tuning.faults
        logPath = files.log
        pageBytes = try queue.inDatabase { db in
            try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4_096
        }
        let migrator = Schema.migrator
        if try !queue.inDatabase(migrator.hasCompletedMigrations) {
            try migrator.migrate(queue)
        }
        try queue.inDatabase { db in
            unsafe sqlite3_wal_hook(db.sqliteConnection, noteLogFrames, logFrames)
            statements = try Statements(db)
        }
        // From here on the number of good pages in the log is known.
        guard let frames = LogFrames.count(in: logPath) else {
            throw StoreError(code: ResultCode.SQLITE_IOERR_READ.rawValue)
        }
        unsafe logFrames.pointee = frames
        logHeader = LogTail.header(of: logPath)
    }

    deinit {
        close()
        unsafe logFrames.deallocate()
    }

    private static func configuration(
        _ durability: Durability, _ tuning: StoreTuning
    ) -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.label = "porchlight-store"
        configuration.busyMode = .timeout(Double(tuning.busyMilliseconds) / 1_000)
        configuration.prepareDatabase { db in
            // A copy may be in progress, of a database that the log is not to be copied into.
            try db.keepLog(true)
            // An empty log stays: on a full disk a start may not find room for another file.
            var isKept: Int32 = 1
            _ = unsafe sqlite3_file_control(
                db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
            // A file that was deleted in the meantime would be created here empty, without the
            // mark.
            let mark = try Int32.fetchOne(db, sql: "PRAGMA application_id")
            guard mark == Schema.applicationID else {
                throw StoreError(code: SQLITE_NOTADB)
            }
            try db.execute(
                sql: """
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL");
                    PRAGMA cache_size = -\(tuning.cacheKibibytes);
                    PRAGMA journal_size_limit = 16777216;
                    PRAGMA secure_delete = ON;
                    PRAGMA temp_store = MEMORY;
                    """)
            if let pages = tuning.databasePagesMax {
                try db.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
        }
        return configuration
    }

    /// Whether the log has grown so far that a checkpoint is due.
    func logExceeds(pages: Int32) -> Bool {
        unsafe logFrames.pointee >= pages
    }

    /// Carries out all of the writes or none.
    func commit(_ submissions: ArraySlice<Submission>) throws(CommitError) {
        let failure: CommitError? = queue.inDatabase { db in
            guard let statements else { preconditionFailure("commit on a closed connection") }
            let goodFrames = unsafe logFrames.pointee
            do throws(StoreError) {
                try statements.begin.run()
                for submission in submissions {
                    try faults?.check(.write)
                    try statements.writes.run(submission.write)
                }
            } catch {
                rollBack(statements)
                return CommitError(
                    cause: error,
                    tail: error.discreditsConnection ? tail(goodFrames) : nil)
            }
            do throws(StoreError) {
                try faults?.check(.commit)
                try statements.commit.run()
                try faults?.check(.commitInLog)
                noteLogHeader(db)
                return nil
            } catch {
                rollBack(statements)
                return CommitError(cause: error, tail: tail(goodFrames))
            }
        }
        if let failure { throw failure }
    }

    /// Reads what is stored.
    func read<Value>(
        _ read: (WriteStatements) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = queue.inDatabase { _ in
            guard let statements else { preconditionFailure("read on a closed connection") }
            do throws(StoreError) {
                try faults?.check(.read)
                return .success(try read(statements.writes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Reads the header of the log again if the commit may have begun the log again.
    ///
    /// A commit that continues the log leaves more frames than it has written. So after the
    /// first few commits of a log this costs no system call.
    private func noteLogHeader(_ db: Database) {
        let framesWritten = framesWritten(db)
        let frames = unsafe logFrames.pointee
        guard logHeader == nil || Int(frames) <= Int(framesWritten) + paddingFramesMax else {
            return
        }
        logHeader = LogTail.header(of: logPath)
    }

    /// The pages that SQLite has written to the log since this was last asked, or more.
    private func framesWritten(_ db: Database) -> Int32 {
        var pages: Int32 = 0
        var pagesMax: Int32 = 0
        let code = unsafe sqlite3_db_status(
            db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &pagesMax, 1)
        return code == SQLITE_OK ? pages : .max
    }

    /// The most frames by which SQLite fills the last sector of a commit, where the disk may damage
    /// a sector that it writes. They are not counted as written. No sector exceeds 64 KiB.
    private var paddingFramesMax: Int { (64 << 10) / pageBytes }

    private func tail(_ goodFrames: Int32) -> LogTail {
        LogTail(goodFrames: goodFrames, pageBytes: pageBytes, header: logHeader)
    }

    private func rollBack(_ statements: Statements) {
        // After many errors SQLite has already rolled back and rejects this: that is fine.
        try? statements.rollback.run()
    }

    /// Copies the log's pages into the database. Returns whether it has all of them.
    func checkpoint() throws(StoreError) -> Bool {
        try faults?.check(.checkpoint)
        var isInFile = false
        let code = queue.inDatabase { db in
            var logged: Int32 = 0
            var copied: Int32 = 0
            let code = unsafe sqlite3_wal_checkpoint_v2(
                db.sqliteConnection, nil, SQLITE_CHECKPOINT_PASSIVE, &logged, &copied)
            guard code == SQLITE_OK else { return code }
            unsafe logFrames.pointee = max(0, logged)
            logHeader = LogTail.header(of: logPath)
            isInFile = copied == logged
            return code
        }
        guard code == SQLITE_OK else { throw StoreError(code: code) }
        return isInFile
    }

    /// Bytes of the page cache.
    var cacheBytes: Int {
        queue.inDatabase { db in
            var bytes: Int32 = 0
            var peakBytes: Int32 = 0
            let code = unsafe sqlite3_db_status(
                db.sqliteConnection, SQLITE_DBSTATUS_CACHE_USED, &bytes, &peakBytes, 0)
            return code == SQLITE_OK ? Int(bytes) : 0
        }
    }

    /// Frees the page cache; pages are read again when they are needed.
    func releaseMemory() {
        queue.inDatabase { db in
            _ = unsafe sqlite3_db_release_memory(db.sqliteConnection)
        }
    }

    /// The bytes of the log that have been committed.
    var logBytes: Int {
        let frames = unsafe Int(logFrames.pointee)
        let frameBytes = LogFrames.frameHeaderBytes + pageBytes
        return frames == 0 ? 0 : LogFrames.headerBytes + frames * frameBytes
    }

    /// Closes the connection, and leaves the log as it is. Committed changes are kept, whether or
    /// not this succeeds.
    func close() {
        // SQLite does not close while it has statements.
        statements = nil
        try? queue.close()
    }

    /// Copies the log into the database, empties it, and closes the connection.
    func closeForGood() {
        try? queue.inDatabase { db in try db.keepLog(false) }
        close()
    }
}

/// Called by SQLite after every commit, in place of its own check for a checkpoint.
private func noteLogFrames(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ database: UnsafePointer<CChar>?, _ frames: Int32
) -> Int32 {
    unsafe context?.assumingMemoryBound(to: Int32.self).pointee = frames
    return SQLITE_OK
}
