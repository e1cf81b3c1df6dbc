/// Why the store was not opened.
///
/// Its description is one sentence that names the path and says what to do; the files are as they
/// were.
public struct StoreRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of refusal.
    public enum Reason: Sendable, Equatable {
        /// The data directory cannot be made.
        case directoryNotCreatable
        /// The path of the data directory is something else.
        case notADirectory
        /// The data directory or the database may not be written.
        case notWritable
        /// Another process has this data directory.
        case inUse
        /// The file is no database.
        case notADatabase
        /// The database is damaged.
        case damaged
        /// The database is another program's.
        case foreign
        /// The database was written by a newer version.
        case newer
        /// The database's log is there, the database is not.
        case databaseMissing
        /// There is no database to make a copy of.
        case noDatabase
        /// There is a database where a copy was to be brought back.
        case databaseExists
        /// There is a file where a copy was to be made.
        case backupExists
        /// A copy cannot be written.
        case backupNotWritable
        /// A file is no copy that can be brought back.
        case unusableBackup
        /// A copy could not be made or brought back for another reason.
        case backupFailed
        /// Anything else.
        case failed
    }

    /// The kind of refusal.
    public let reason: Reason
    /// The directory or file it is about.
    public let path: String
    /// What the system or SQLite said; may be empty.
    public let detail: String

    init(_ reason: Reason, path: String, detail: String = "") {
        self.reason = reason
        self.path = path
        self.detail = detail
    }

    /// One sentence for the person who starts the service.
    public var description: String {
        let why = detail.isEmpty ? "" : " (\(detail))"
        return switch reason {
        case .directoryNotCreatable:
            "The data directory \(path) cannot be created\(why); "
                + "create it or choose another with --data."
        case .notADirectory:
            "The data directory \(path) is not a directory; "
                + "move that file away or choose another directory with --data."
        case .notWritable:
            "\(path) is not writable\(why); "
                + "give this user write access to it or choose another directory with --data."
        case .inUse:
            "The data directory \(path) is in use by another Porchlight; "
                + "stop that one or choose another directory with --data."
        case .notADatabase:
            "The file \(path) is not a database; "
                + "restore it from a backup, or move it away to start empty."
        case .damaged:
            "The database \(path) is damaged\(why); "
                + "restore it from a backup, or move it away to start empty."
        case .foreign:
            "The database \(path) belongs to another program; "
                + "move it away or choose another directory with --data."
        case .newer:
            "The database \(path) was written by a newer Porchlight; "
                + "start that version, or restore a backup of this one's."
        case .databaseMissing:
            "The database \(path) is missing but its log \(path)-wal is there; "
                + "restore the database, or move the log away to start empty."
        case .noDatabase:
            "There is no database in \(path); give the service's data directory with --data."
        case .databaseExists:
            "The data directory \(path) has a database already; "
                + "move it away or choose another directory with --data."
        case .backupExists:
            "There is a file \(path) already; choose another name, or give --force to replace it."
        case .backupNotWritable:
            "The file \(path) cannot be written\(why); choose another place."
        case .unusableBackup:
            "The file \(path) cannot be restored\(why); give one that `porchlight backup` made."
        case .backupFailed:
            "The file \(path) could not be copied\(why); see to that and try again."
        case .failed:
            "The database \(path) cannot be opened\(why); "
                + "see to that, or choose another directory with --data."
        }
    }
}
