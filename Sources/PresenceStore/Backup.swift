// Backups of the database: made while the service runs, and restored where there is none.
//
// A backup is a copy of the database's file. A running service keeps that file as it is meanwhile,
// and commits into its log (`BackupSocket`): so the copy is the database at one moment, and blocks
// no write. The log grows until the copy is complete. Where the log could not be copied into the
// database before, the copy has that part of it, too, and SQLite reads both. SQLite's backup API
// would need a second connection: the service's is alone, so that nothing of the database is
// mapped.
//
// The backup is one file without a log. It is checked, and gets its name when it is complete and
// durable: of two that are made at the same time, the last one to end replaces the other, if files
// may be replaced.
//
// A restored database continues with numbers that no client can have seen. `seq` only rises, and
// clients keep the state with the higher one. The backup knows which numbers were reserved when it
// was made, but not which were reserved since. The lock file knows, if the backup is restored to
// the directory in which it was made. Elsewhere the clock tells: numbers rise with the microseconds
// since 1970, and are ahead of these by a block at most for each start. From the highest of the
// three the reservation is advanced by `numbersPassedOver`: 4,096 blocks, or 203 days. That leaves
// enough numbers: 2^53, which JavaScript represents exactly, are enough for 400 restores.

internal import GRDB
internal import Glibc

/// Makes and restores backups of the database.
public enum Backup {
    /// What happens to an existing file.
    public enum Existing: Sendable { case kept, replaced }

    /// The numbers that a restored service skips.
    public static let numbersPassedOver: Int64 = 1 << 44

    /// Writes a backup of the database in `directory` to `file`, whether or not a service runs.
    ///
    /// Returns its size in bytes. Takes some seconds per gigabyte.
    /// - Throws: why not, in one sentence; an existing file is unchanged.
    public static func make(
        of directory: String, to file: String, existing: Existing
    ) throws(StoreFileError) -> Int {
        try make(of: directory, to: file, existing: existing, whileReading: {})
    }

    /// As above; `whileReading` is called once the state that is copied is fixed.
    package static func make(
        of directory: String, to file: String, existing: Existing, whileReading: () throws -> Void
    ) throws(StoreFileError) -> Int {
        let files = StoreFiles(directory: directory)
        try files.checkReadable()
        try checkTarget(file, files, existing)
        guard let partial = PartialFile(for: file, files) else {
            throw StoreFileError(.backupNotWritable, path: file, detail: systemError())
        }
        try copyStill(files, to: partial.path, for: file, whileReading)
        do {
            try withCopy(partial.path) { db in
                try Inspection.inspect(db, at: files.database, .wholly)
                // One file: without this pragma a reader would look for a log.
                try db.setJournal("delete")
            }
        } catch {
            throw fileError(error, reading: files.database, file)
        }
        try publish(partial, as: file, existing)
        return files.size(of: file)
    }

    /// Creates the database of `directory`, which must not exist, from a backup.
    ///
    /// `microseconds`: the time since 1970.
    /// - Throws: why not, in one sentence; no files are left behind.
    public static func restore(
        from file: String, to directory: String, at microseconds: Int64
    ) throws(StoreFileError) {
        try StoreFiles.checkPermission(toRead: file)
        let files = StoreFiles(directory: directory)
        guard files.kind(of: file) == S_IFREG else {
            throw StoreFileError(.unusableBackup, path: file, detail: "no such file")
        }
        try files.prepareDirectory()
        let lock = try DirectoryLock(files)
        defer { withExtendedLifetime(lock) {} }
        guard files.kind(of: files.database) == nil, files.size(of: files.log) == 0 else {
            throw StoreFileError(.databaseExists, path: directory)
        }
        files.removeUnfinished()
        do {
            try files.createUnfinished()
            try copy(
                file, logBytes: files.size(of: file + "-wal"), to: files.unfinished,
                for: files.unfinished)
            try withCopy(files.unfinished) { db in
                try Inspection.inspect(db, at: file, .wholly)
                // All of it is in the file then, also what was in a log beside the backup.
                try db.setJournal("delete")
                try passOverNumbers(db, usedUpTo: max(lock.numbersReserved, microseconds))
                try db.setJournal("wal")
            }
            try files.publishUnfinished()
        } catch {
            files.removeUnfinished()
            throw ofCopy(fileError(error, reading: file, file))
        }
    }

    // MARK: Parts

    private static func checkTarget(
        _ file: String, _ files: StoreFiles, _ existing: Existing
    ) throws(StoreFileError) {
        // First: --force does not help.
        guard !files.isOwn(file) else { throw StoreFileError(.backupOverDatabase, path: file) }
        guard let kind = files.kind(of: file) else { return }
        guard kind == S_IFREG else { throw StoreFileError(.backupNotAFile, path: file) }
        guard existing == .replaced else { throw StoreFileError(.backupExists, path: file) }
    }

    /// Copies the database and its log while they do not change.
    private static func copyStill(
        _ files: StoreFiles, to path: String, for file: String, _ whileReading: () throws -> Void
    ) throws(StoreFileError) {
        let (lock, held) = try keepStill(files)
        defer { withExtendedLifetime(lock) {} }
        do {
            try whileReading()
        } catch {
            throw StoreFileError(.backupFailed, path: file, detail: "\(error)")
        }
        try copy(
            files.database, logBytes: held?.logBytes ?? files.size(of: files.log), to: path,
            for: file)
        guard held?.release() ?? true else {
            throw StoreFileError(
                .backupFailed, path: file,
                detail: "the service has ended meanwhile, or its file was changed")
        }
    }

    /// Keeps the files as they are: no service may start, or the one that runs keeps them.
    private static func keepStill(
        _ files: StoreFiles
    ) throws(StoreFileError) -> (DirectoryLock?, HeldDatabase?) {
        var attempts = 0
        while true {
            do throws(StoreFileError) {
                return (try DirectoryLock(files, .reading), nil)
            } catch {
                if error.reason != .inUse {
                    // A service that has the directory has made this file.
                    guard files.isReadOnly, files.kind(of: files.lock) == nil else { throw error }
                    return (nil, nil)
                }
            }
            do throws(StoreFileError) {
                return (nil, try HeldDatabase(files))
            } catch {
                // A service that starts or ends has no socket for a while.
                attempts += 1
                guard
                    error.detail == systemError(ENOENT)
                        || error.detail == systemError(ECONNREFUSED),
                    attempts < attemptsMax
                else { throw error }
                usleep(attemptMicroseconds)
            }
        }
    }

    private static let attemptMicroseconds: UInt32 = 100_000
    /// Ten seconds.
    private static let attemptsMax = 100

    /// Copies a database and the beginning of its log.
    private static func copy(
        _ source: String, logBytes: Int, to path: String, for file: String
    ) throws(StoreFileError) {
        _ = try FileCopy(from: source, to: path).copy(bytesMax: .max, for: file)
        guard logBytes > 0 else { return }
        let copied = try FileCopy(from: source + "-wal", to: path + "-wal").copy(
            bytesMax: logBytes, for: file)
        guard copied == logBytes else {
            throw StoreFileError(.backupFailed, path: file, detail: "the log has become shorter")
        }
    }

    /// Opens a copy, which no other program uses.
    private static func withCopy(_ path: String, _ body: (Database) throws -> Void) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let copy = try DatabaseQueue(
            path: DatabasePath(path).exclusive, configuration: configuration)
        defer { try? copy.close() }
        try copy.inDatabase { db in try body(db) }
    }

    private static func passOverNumbers(_ db: Database, usedUpTo used: Int64) throws {
        try db.execute(
            sql: "UPDATE service SET value = MAX(value, ?) + ? WHERE key = 'seqReserved'",
            arguments: [used, numbersPassedOver])
        guard db.changesCount == 0 else { return }
        try db.execute(
            sql: "INSERT INTO service (key, value) VALUES ('seqReserved', ?)",
            arguments: [used + numbersPassedOver])
    }

    private static func publish(
        _ partial: PartialFile, as file: String, _ existing: Existing
    ) throws(StoreFileError) {
        switch partial.publish(existing) {
        case nil: return
        // Another backup may have been first.
        case EEXIST: throw StoreFileError(.backupExists, path: file)
        case let error?:
            throw StoreFileError(.backupNotWritable, path: file, detail: systemError(error))
        }
    }

    /// The error for an error of SQLite while `source` was being copied to, or from, `file`.
    private static func fileError(
        _ error: any Error, reading source: String, _ file: String
    ) -> StoreFileError {
        if let fileError = error as? StoreFileError { return fileError }
        let storeError = StoreError(error)
        switch ResultCode(rawValue: storeError.code & 0xFF) {
        case .SQLITE_NOTADB: return StoreFileError(.notADatabase, path: source)
        case .SQLITE_CORRUPT:
            return StoreFileError(.damaged, path: source, detail: storeError.description)
        default: return StoreFileError(.backupFailed, path: file, detail: storeError.description)
        }
    }

    /// Turns the error of a database into that of a backup.
    private static func ofCopy(_ fileError: StoreFileError) -> StoreFileError {
        let why: String
        switch fileError.reason {
        case .notADatabase: why = "it is not a database"
        case .foreign: why = "it belongs to another program"
        case .newer: why = "it was written by a newer Porchlight"
        case .damaged: why = "it is damaged: \(fileError.detail)"
        default: return fileError
        }
        return StoreFileError(.unusableBackup, path: fileError.path, detail: why)
    }
}

extension Database {
    /// Changes how transactions are kept; SQLite says that it did not by the name of the mode.
    fileprivate func setJournal(_ mode: String) throws {
        let inForce = try String.fetchOne(self, sql: "PRAGMA journal_mode = \(mode)")
        guard inForce == mode else { throw StoreError(code: ResultCode.SQLITE_BUSY.rawValue) }
    }
}
