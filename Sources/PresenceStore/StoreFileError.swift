internal import Glibc

/// Why the store was not opened.
///
/// The description is one sentence that names the path and says what to do. The files are
/// unchanged.
public struct StoreFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reasons.
    public enum Reason: Sendable, Equatable {
        /// The data directory cannot be created.
        case directoryNotCreatable
        /// The directory that should hold the data directory does not exist.
        case parentMissing
        /// The path of the data directory is not a directory.
        case notADirectory
        /// The data directory or the database is not writable.
        case notWritable
        /// Another process uses this data directory.
        case inUse
        /// The disk has no room for a new directory or database. Another attempt may succeed.
        case diskFull
        /// The service that uses this data directory does not let its files be copied.
        case notAnswering
        /// The file is not a database.
        case notADatabase
        /// The data directory or the database is not readable.
        case notReadable
        /// The database is damaged.
        case damaged
        /// The database belongs to another program.
        case foreign
        /// The database was written by a newer version.
        case newer
        /// The database is missing, but its log exists.
        case databaseMissing
        /// There is no database to back up.
        case noDatabase
        /// A backup cannot be restored over an existing database.
        case databaseExists
        /// The file for the backup exists already.
        case backupExists
        /// The backup would have the name of a directory or a device.
        case backupNotAFile
        /// The backup would have a name that the database or its log has, or may get.
        case backupOverDatabase
        /// The backup cannot be written.
        case backupNotWritable
        /// The file is not a backup that can be restored.
        case unusableBackup
        /// A backup or restore failed for another reason.
        case backupFailed
        /// Anything else.
        case failed
    }

    /// The reason.
    public let reason: Reason
    /// The directory or file it is about.
    public let path: String
    /// The message of the system or of SQLite; may be empty.
    public let detail: String

    init(_ reason: Reason, path: String, detail: String = "") {
        self.reason = reason
        self.path = path
        self.detail = detail
    }

    /// That something could not be made in a directory, because of the system's error `number`.
    static func unmade(
        _ reason: Reason, in directory: String, number: Int32 = errno
    ) -> StoreFileError {
        let isFull = number == ENOSPC || number == EDQUOT
        return StoreFileError(
            isFull ? .diskFull : reason, path: directory, detail: systemError(number))
    }

    /// One sentence for the operator.
    public var description: String {
        let why = detail.isEmpty ? "" : " (\(detail))"
        return switch reason {
        case .directoryNotCreatable:
            "The data directory \(path) cannot be created\(why); "
                + "create it or choose another directory with --data."
        case .parentMissing:
            "The data directory \(path) cannot be created, since there is no \(detail); "
                + "create that first or choose another directory with --data."
        case .notADirectory:
            "The data directory \(path) is not a directory; "
                + "move that file away or choose another directory with --data."
        case .notWritable:
            "\(path) is not writable\(why); "
                + "give this user write access to it or choose another directory with --data."
        case .notReadable:
            "\(path) cannot be read\(why); "
                + "run this as the user of the service, such as with `sudo -u porchlight`."
        case .inUse:
            "The data directory \(path) is in use by another Porchlight; "
                + "stop that one or choose another directory with --data."
        case .diskFull:
            "The disk of the data directory \(path) is full\(why); free some space on it."
        case .notAnswering:
            "The service that uses the data directory \(path) does not answer\(why); "
                + "look at its log, or stop it for the backup."
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
                + "start that version, or restore a backup made by this version."
        case .databaseMissing:
            "The database \(path) is missing, but its log \(path)-wal exists; "
                + "restore the database, or move the log away to start empty."
        case .noDatabase:
            "There is no database in \(path); specify the service's data directory with --data."
        case .databaseExists:
            "The data directory \(path) already contains a database; "
                + "move it away or choose another directory with --data."
        case .backupExists:
            "The file \(path) already exists; choose another name, or use --force to replace it."
        case .backupNotAFile:
            "\(path) is not a file; give the name of a file, such as \(path)/backup.sqlite for one "
                + "in a directory."
        case .backupOverDatabase:
            "\(path) is a name for a file of the database itself; choose another name."
        case .backupNotWritable:
            "The file \(path) cannot be written\(why); choose another location."
        case .unusableBackup:
            "The file \(path) cannot be restored\(why); use a file made by `porchlight backup`."
        case .backupFailed:
            "The file \(path) could not be copied\(why); fix the cause and try again."
        case .failed:
            "The database \(path) cannot be opened\(why); "
                + "fix the cause, or choose another directory with --data."
        }
    }
}
