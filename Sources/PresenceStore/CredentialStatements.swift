internal import GRDB

/// The statements for the table `credential`, prepared once for a connection.
struct CredentialStatements {
    private let put: PreparedStatement
    private let remove: PreparedStatement
    private let select: PreparedStatement

    init(_ db: Database) throws {
        put = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO credential
                (account, iterations, salt, storedSHA1, serverSHA1, storedSHA256, serverSHA256,
                 created)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """)
        remove = try PreparedStatement(db, "DELETE FROM credential WHERE account = ?1")
        select = try PreparedStatement(
            db,
            """
            SELECT iterations, salt, storedSHA1, serverSHA1, storedSHA256, serverSHA256, created
            FROM credential WHERE account = ?1
            """)
    }

    func put(_ row: CredentialRow) throws(StoreError) {
        try put.run(
            row.account, row.iterations, Blob(bytes: row.salt), Blob(bytes: row.storedSHA1),
            Blob(bytes: row.serverSHA1), Blob(bytes: row.storedSHA256),
            Blob(bytes: row.serverSHA256), row.created)
        // SQLite would keep the keys until the next one.
        put.unbind()
    }

    func remove(_ account: [UInt8]) throws(StoreError) {
        try remove.run(account)
    }

    func credential(of account: [UInt8]) throws(StoreError) -> CredentialRow? {
        try select.bind(1, account)
        guard try select.next() else { return nil }
        // A statement in the middle of its rows would keep its view of the database.
        defer { select.reset() }
        var row = CredentialRow(account: account)
        row.iterations = try select.integer(0, as: Int32.self)
        row.salt = select.bytes(1)
        row.storedSHA1 = select.bytes(2)
        row.serverSHA1 = select.bytes(3)
        row.storedSHA256 = select.bytes(4)
        row.serverSHA256 = select.bytes(5)
        row.created = select.integer(6)
        return row
    }
}

extension Store {
    /// Only how many there are: the keys of all accounts are not kept in memory.
    func loadPasswords(_ db: Database, _ reader: inout some StoreReader & ~Copyable) throws {
        let row = try PreparedStatement(
            db,
            """
            SELECT (SELECT count(*) FROM credential), value
            FROM service WHERE key = 'passwordSecret'
            """)
        while try row.next() {
            reader.passwords(count: Int(clamping: row.integer(0)), secret: row.bytes(1))
        }
    }
}
