// Backups of the database: made while the service runs, and restored where there is none.
//
// A backup is made by SQLite's backup API in one step, through a read-only connection: it is the
// database at one moment, whatever is written in the meantime, and it blocks no write. The log
// grows until the backup is complete, since it must keep the pages that the backup still needs. The
// backup is one file without a log. It is checked, and gets its name when it is complete and
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
        // No service may start while the file is read without locks. If a service has the lock, it
        // is running, and locks are used.
        let lock = try? DirectoryLock(files)
        defer { withExtendedLifetime(lock) {} }
        guard let partial = PartialFile(for: file, files) else {
            throw StoreFileError(.backupNotWritable, path: file, detail: systemError())
        }
        do {
            let source = try reading(files.database, isStill: lock != nil)
            defer { try? source.close() }
            try copy(source, to: partial.path, whileReading) { db in
                try Inspection.inspect(db, at: files.database, .wholly)
                // One file: without this pragma a reader would look for a log.
                try db.execute(sql: "PRAGMA journal_mode = DELETE")
            }
            try publish(partial, as: file, existing)
        } catch {
            throw fileError(error, reading: files.database, file)
        }
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
        for path in [files.database, files.log] where files.kind(of: path) != nil {
            throw StoreFileError(.databaseExists, path: directory)
        }
        files.removeUnfinished()
        do {
            let source = try reading(file, isStill: true)
            defer { try? source.close() }
            try source.inDatabase { db in try Inspection.inspect(db, at: file, .wholly) }
            try files.createUnfinished()
            try copy(source, to: files.unfinished) { db in
                try passOverNumbers(db, usedUpTo: max(lock.numbersReserved, microseconds))
                try db.execute(sql: "PRAGMA journal_mode = WAL")
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

    /// A connection that reads a database. If no service runs and there is no log, it takes no
    /// locks and leaves no files.
    private static func reading(_ path: String, isStill: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(10)
        let hasLog = StoreFiles(directory: "").size(of: path + "-wal") > 0
        let file = DatabasePath(path)
        return try DatabaseQueue(
            path: isStill && !hasLog ? file.immutable : file.literal,
            configuration: configuration)
    }

    private static func copy(
        _ source: DatabaseQueue, to path: String, _ whileReading: () throws -> Void = {},
        _ finish: (Database) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let target = try DatabaseQueue(
            path: DatabasePath(path).literal, configuration: configuration)
        defer { try? target.close() }
        try source.inDatabase { reader in
            try reader.inTransaction(.deferred) {
                _ = try Int.fetchOne(reader, sql: "SELECT count(*) FROM sqlite_schema")
                try whileReading()
                try target.inDatabase { writer in try reader.backup(to: writer) }
                return .commit
            }
        }
        try target.inDatabase { db in try finish(db) }
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
