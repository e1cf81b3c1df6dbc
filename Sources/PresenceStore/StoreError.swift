internal import GRDB

/// Why a transaction failed while the service was running.
public struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What the operator has to look at.
    public enum Kind: Sendable, Equatable {
        /// There is no space left.
        case diskFull
        /// A read or write on the disk failed.
        case inputOutput
        /// The database is damaged.
        case corrupt
        /// The database is read-only.
        case readOnly
        /// Another program has locked the database.
        case busy
        /// Anything else.
        case other
    }

    /// SQLite's extended result code.
    public let code: Int32

    /// Creates an error from SQLite's extended result code.
    public init(code: Int32) {
        self.code = code
    }

    init(_ error: any Error) {
        if let error = error as? DatabaseError {
            self.init(code: error.extendedResultCode.rawValue)
        } else if let storeError = error as? StoreError {
            self = storeError
        } else {
            self.init(code: ResultCode.SQLITE_ERROR.rawValue)
        }
    }

    /// What the operator has to look at.
    public var kind: Kind {
        switch ResultCode(rawValue: code & 0xFF) {
        case .SQLITE_FULL: .diskFull
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: .inputOutput
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
        case .SQLITE_READONLY, .SQLITE_PERM: .readOnly
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        default: .other
        }
    }

    /// The kind in words and SQLite's code, without a full stop.
    public var description: String {
        let words =
            switch kind {
            case .diskFull: "the disk is full"
            case .inputOutput: "disk I/O error"
            case .corrupt: "the database is damaged"
            case .readOnly: "the database is read-only"
            case .busy: "the database is locked by another program"
            case .other: "database error"
            }
        return "\(words) (SQLite \(code))"
    }

    /// Whether the connection's view of the database may differ from what is on the disk.
    var discreditsConnection: Bool {
        switch kind {
        case .inputOutput, .corrupt, .readOnly: true
        case .diskFull, .busy, .other: false
        }
    }
}
