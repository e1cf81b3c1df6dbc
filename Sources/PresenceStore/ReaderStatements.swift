internal import GRDB

/// The statements for the tables `reader` and `unfinished`, prepared once for a connection.
struct ReaderStatements {
    private let put: PreparedStatement
    private let remove: PreparedStatement
    private let putUnfinished: PreparedStatement
    private let removeUnfinished: PreparedStatement
    private let removeAllUnfinished: PreparedStatement

    init(_ db: Database) throws {
        put = try PreparedStatement(
            db, "INSERT OR REPLACE INTO reader (name, cursor) VALUES (?1, ?2)")
        remove = try PreparedStatement(db, "DELETE FROM reader WHERE name = ?1")
        putUnfinished = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO unfinished (reader, number, device, account, sent)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        removeUnfinished = try PreparedStatement(
            db, "DELETE FROM unfinished WHERE reader = ?1 AND number = ?2 AND device = ?3")
        removeAllUnfinished = try PreparedStatement(
            db, "DELETE FROM unfinished WHERE reader = ?1")
    }

    func move(_ move: ReaderMove) throws(StoreError) {
        try put.run(move.name, move.cursor)
        for (number, device) in move.finished {
            try removeUnfinished.run(move.name, number, device)
        }
        for row in move.begun {
            try putUnfinished.run(move.name, row.number, row.device, row.account, row.sent)
        }
    }

    func remove(_ name: [UInt8]) throws(StoreError) {
        try remove.run(name)
        try removeAllUnfinished.run(name)
    }
}

extension Store {
    func loadReaders(_ db: Database) throws -> [ReaderRow] {
        let row = try PreparedStatement(db, "SELECT name, cursor FROM reader ORDER BY name")
        let unfinished = try PreparedStatement(
            db, "SELECT number, device, account, sent FROM unfinished WHERE reader = ?1")
        var readers: [ReaderRow] = []
        while try row.next() {
            var reader = ReaderRow(name: row.bytes(0), cursor: row.optionalBytes(1))
            try unfinished.bind(1, reader.name)
            while try unfinished.next() {
                reader.unfinished.append(
                    UnfinishedRow(
                        number: unfinished.integer(0), device: unfinished.bytes(1),
                        account: unfinished.bytes(2), sent: unfinished.integer(3)))
            }
            readers.append(reader)
        }
        return readers
    }
}
