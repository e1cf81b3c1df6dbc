internal import GRDB

extension Schema {
    /// What the service knows of itself, such as the sequence numbers it has reserved.
    @Sendable static func createService(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE service (
                    key TEXT NOT NULL PRIMARY KEY,
                    value ANY NOT NULL
                ) STRICT, WITHOUT ROWID
                """)
    }
}
