internal import CSQLite
internal import GRDB
internal import Glibc

/// Inspects a database without changing a byte of it, and rejects what must not be opened.
///
/// Without a log the file is opened as `immutable`: no lock, no log. With a log (from `kill -9`)
/// the file alone may be torn, so SQLite reads through the log, and leaves both as they are.
/// https://www.sqlite.org/uri.html#uriimmutable
enum Inspection {
    static func inspect(_ files: StoreFiles) throws(StoreFileError) {
        let hasLog = files.size(of: files.log) > 0
        if hasLog, !isLog(files.log) {
            throw StoreFileError(
                .damaged, path: files.log,
                detail: "it is not a write-ahead log, and its content is lost")
        }
        do {
            let queue = try reading(DatabasePath(files.database), hasLog: hasLog)
            defer { try? queue.close() }
            try queue.inDatabase { db in try inspect(db, at: files.database, .quickly) }
        } catch {
            throw fileError(error, files)
        }
    }

    private static func reading(_ path: DatabasePath, hasLog: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        guard hasLog else {
            configuration.readonly = true
            return try DatabaseQueue(path: path.immutable, configuration: configuration)
        }
        // Another program, such as one that monitors, may have it open for a moment.
        configuration.busyMode = .timeout(1)
        // Only a connection that may write keeps the index of the log in its memory.
        configuration.prepareDatabase { db in
            try db.keepLog(true)
            try db.execute(sql: "PRAGMA query_only = ON")
        }
        return try DatabaseQueue(path: path.exclusive, configuration: configuration)
    }

    /// Whether a file begins like a log of SQLite, or with zeros, as a log that a power failure
    /// left unwritten. SQLite would silently replace any other file with an empty log.
    private static func isLog(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { closeOnce(descriptor) }
        var magic: UInt32 = 0
        let count = unsafe withUnsafeMutableBytes(of: &magic) {
            unsafe read(descriptor, $0.baseAddress, $0.count)
        }
        guard count == 4 else { return true }
        return [0, 0x377F_0682, 0x377F_0683].contains(UInt32(bigEndian: magic))
    }

    /// How thoroughly a database is inspected.
    enum Depth: String {
        /// Reads every page: 0.11 s per million subscriptions.
        case quickly = "quick_check"
        /// Checks the order of the entries, too.
        case wholly = "integrity_check"
    }

    /// Rejects a database of another program, of a newer version, or with damage.
    static func inspect(_ db: Database, at path: String, _ depth: Depth) throws {
        let mark = try Int32.fetchOne(db, sql: "PRAGMA application_id")
        guard mark == Schema.applicationID else {
            throw StoreFileError(.foreign, path: path)
        }
        guard try !Schema.migrator.hasBeenSuperseded(db) else {
            throw StoreFileError(.newer, path: path)
        }
        // The first finding is enough.
        let finding = try String.fetchOne(db, sql: "PRAGMA \(depth.rawValue)(1)")
        guard finding == "ok" else {
            throw StoreFileError(.damaged, path: path, detail: oneLine(finding ?? ""))
        }
    }

    /// The error for an error of SQLite at opening.
    static func fileError(_ error: any Error, _ files: StoreFiles) -> StoreFileError {
        if let fileError = error as? StoreFileError { return fileError }
        let storeError = StoreError(error)
        switch ResultCode(rawValue: storeError.code & 0xFF) {
        case .SQLITE_NOTADB:
            return StoreFileError(.notADatabase, path: files.database)
        case .SQLITE_CORRUPT:
            return StoreFileError(.damaged, path: files.database, detail: oneLine("\(error)"))
        default:
            return StoreFileError(.failed, path: files.database, detail: storeError.description)
        }
    }

    private static func oneLine(_ text: String) -> String {
        let last = text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
        return last.isEmpty ? "it cannot be read" : last
    }
}

extension Database {
    /// Whether closing the connection leaves the log as it is, instead of copying it into the
    /// database and removing it.
    func keepLog(_ isKept: Bool) throws {
        let code = unsafe csqlite_keep_log(sqliteConnection, isKept ? 1 : 0)
        guard code == ResultCode.SQLITE_OK.rawValue else { throw StoreError(code: code) }
    }
}
