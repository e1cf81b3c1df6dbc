internal import GRDB

extension Schema {
    /// The cards of accounts (vCards), which are read one at a time when a client asks.
    ///
    /// Rows are large, so they are clustered by the rowid; `bytes` is in front of `content`, so
    /// that the sizes are read at the start without the contents. Times are milliseconds since
    /// 1970.
    @Sendable static func createCard(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE card (
                    account TEXT PRIMARY KEY NOT NULL,
                    bytes INTEGER NOT NULL,
                    updated INTEGER NOT NULL,
                    content TEXT NOT NULL
                ) STRICT
                """)
    }
}
