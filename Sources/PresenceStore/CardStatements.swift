internal import GRDB

/// The statements for the table `card`, prepared once for a connection.
struct CardStatements {
    private let put: PreparedStatement
    private let remove: PreparedStatement
    private let select: PreparedStatement

    init(_ db: Database) throws {
        put = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO card (account, bytes, updated, content)
            VALUES (?1, ?2, ?3, ?4)
            """)
        remove = try PreparedStatement(db, "DELETE FROM card WHERE account = ?1")
        select = try PreparedStatement(db, "SELECT content FROM card WHERE account = ?1")
    }

    func put(_ row: CardRow) throws(StoreError) {
        try put.run(row.account, row.content.count, row.updated, row.content)
        // SQLite would keep the content until the next one.
        put.unbind()
    }

    func remove(_ account: [UInt8]) throws(StoreError) {
        try remove.run(account)
    }

    func content(of account: [UInt8]) throws(StoreError) -> [UInt8]? {
        try select.bind(1, account)
        guard try select.next() else { return nil }
        // A statement in the middle of its rows would keep its view of the database.
        defer { select.reset() }
        return select.bytes(0)
    }
}

extension Store {
    /// Only their summaries: contents are not kept in memory.
    func loadCards(_ db: Database, _ reader: inout some StoreReader & ~Copyable) throws {
        let row = try PreparedStatement(db, "SELECT account, bytes, updated FROM card")
        while try row.next() {
            reader.card(
                CardSummary(
                    account: row.bytes(0), byteCount: Int(clamping: row.integer(1)),
                    updated: row.integer(2)))
        }
    }
}
