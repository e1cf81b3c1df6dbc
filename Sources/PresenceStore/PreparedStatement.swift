internal import GRDB
internal import GRDBSQLite

/// A prepared statement that is bound and stepped on SQLite's own handle.
///
/// GRDB prepares and finalizes it; binding through GRDB's argument values costs twice as much per
/// row (measured: 2.8 µs against 1.5). Besides `WriteConnection`, only this file uses SQLite's
/// pointers.
@safe struct PreparedStatement {
    private let owner: Statement
    fileprivate let raw: OpaquePointer

    init(_ db: Database, _ sql: String) throws {
        owner = try db.makeStatement(sql: sql)
        unsafe raw = owner.sqliteStatement
    }

    // MARK: Binding

    /// Binds a copy of a value.
    func bind(_ index: Int32, _ value: some Parameter) throws(StoreError) {
        let code = value.bind(to: self, index)
        precondition(code != SQLITE_RANGE, "the statement has such a parameter")
        if code != SQLITE_OK { throw StoreError(code: code) }
    }

    /// Binds `bytes` without a copy: they must stay where they are until `unbind`.
    @unsafe func bind(_ index: Int32, inPlace bytes: UnsafeBufferPointer<UInt8>) throws(StoreError)
    {
        guard let base = bytes.baseAddress, bytes.count > 0 else {
            return try bind(index, [UInt8]())
        }
        let text = unsafe UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self)
        let code = unsafe sqlite3_bind_text(raw, index, text, Int32(bytes.count), nil)
        if code != SQLITE_OK { throw StoreError(code: code) }
    }

    func unbind() {
        unsafe sqlite3_clear_bindings(raw)
    }

    // MARK: Stepping

    /// Runs a statement that returns no rows, with copies of these values for its first parameters;
    /// its bindings stay.
    func run<each Value: Parameter>(_ values: repeat each Value) throws(StoreError) {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            try bind(index, value)
        }
        let code = unsafe sqlite3_step(raw)
        unsafe sqlite3_reset(raw)
        if code != SQLITE_DONE { throw StoreError(code: code) }
    }

    /// Steps to the next row; false if there is none.
    func next() throws(StoreError) -> Bool {
        switch unsafe sqlite3_step(raw) {
        case SQLITE_ROW:
            return true
        case SQLITE_DONE:
            unsafe sqlite3_reset(raw)
            return false
        case let code:
            unsafe sqlite3_reset(raw)
            throw StoreError(code: code)
        }
    }

    /// Ends the reading of rows before the last one.
    func reset() {
        unsafe sqlite3_reset(raw)
    }

    // MARK: Columns

    func integer(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(raw, column)
    }

    /// The column as a narrower integer; a damaged row may hold a number that does not fit.
    func integer<Narrow: FixedWidthInteger>(
        _ column: Int32, as: Narrow.Type
    ) throws(StoreError) -> Narrow {
        guard let value = Narrow(exactly: integer(column)) else {
            throw StoreError(code: SQLITE_CORRUPT)
        }
        return value
    }

    func bytes(_ column: Int32) -> [UInt8] {
        unsafe [UInt8](text(column))
    }

    func optionalBytes(_ column: Int32) -> [UInt8]? {
        unsafe sqlite3_column_type(raw, column) == SQLITE_NULL ? nil : bytes(column)
    }

    /// The column's bytes in SQLite's memory: valid until the next step.
    ///
    /// Read as a blob, which for UTF-8 gives the same bytes without the copy that a terminating
    /// zero would need.
    @unsafe func text(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
        guard let start = unsafe sqlite3_column_blob(raw, column) else {
            return unsafe UnsafeBufferPointer(start: nil, count: 0)
        }
        let count = unsafe Int(sqlite3_column_bytes(raw, column))
        return unsafe UnsafeBufferPointer(
            start: start.assumingMemoryBound(to: UInt8.self), count: count)
    }
}

/// What can be bound: an integer, a flag, text or NULL, and a `Blob`.
protocol Parameter {
    /// Binds a copy, and returns SQLite's code.
    func bind(to statement: PreparedStatement, _ index: Int32) -> CInt
}

extension Parameter where Self: FixedWidthInteger {
    func bind(to statement: PreparedStatement, _ index: Int32) -> CInt {
        unsafe sqlite3_bind_int64(statement.raw, index, Int64(self))
    }
}

extension Int: Parameter {}
extension Int8: Parameter {}
extension Int32: Parameter {}
extension Int64: Parameter {}
extension UInt8: Parameter {}
extension UInt16: Parameter {}

extension Bool: Parameter {
    func bind(to statement: PreparedStatement, _ index: Int32) -> CInt {
        (self ? 1 : 0).bind(to: statement, index)
    }
}

extension [UInt8]: Parameter {
    func bind(to statement: PreparedStatement, _ index: Int32) -> CInt {
        unsafe withUnsafeBytes { buffer in
            // An empty array may have no address, and no address would be NULL.
            guard let base = buffer.baseAddress, buffer.count > 0 else {
                let empty: StaticString = ""
                let start = unsafe UnsafeRawPointer(empty.utf8Start)
                    .assumingMemoryBound(to: CChar.self)
                return unsafe sqlite3_bind_text(statement.raw, index, start, 0, nil)
            }
            let text = unsafe base.assumingMemoryBound(to: CChar.self)
            return unsafe sqlite3_bind_text(
                statement.raw, index, text, Int32(buffer.count), transient)
        }
    }
}

extension Optional: Parameter where Wrapped == [UInt8] {
    func bind(to statement: PreparedStatement, _ index: Int32) -> CInt {
        unsafe self?.bind(to: statement, index) ?? sqlite3_bind_null(statement.raw, index)
    }
}

/// Bytes that are not text.
struct Blob: Parameter {
    let bytes: [UInt8]

    func bind(to statement: PreparedStatement, _ index: Int32) -> CInt {
        unsafe bytes.withUnsafeBytes { buffer in
            // As above.
            guard let base = buffer.baseAddress, buffer.count > 0 else {
                return unsafe sqlite3_bind_zeroblob(statement.raw, index, 0)
            }
            return unsafe sqlite3_bind_blob(
                statement.raw, index, base, Int32(buffer.count), transient)
        }
    }
}

/// Tells SQLite to copy what is bound (`SQLITE_TRANSIENT`, a macro that Swift cannot see).
private var transient: sqlite3_destructor_type? {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type?.self)
}
