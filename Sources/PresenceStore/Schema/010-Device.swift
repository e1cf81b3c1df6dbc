internal import GRDB

extension Schema {
    /// What apps say of the devices of accounts: alias, tags and push address.
    ///
    /// An empty text is none; there is a byte 0x1F between tags. `updated` is in milliseconds since
    /// 1970.
    @Sendable static func createDevice(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE device (
                    account TEXT NOT NULL,
                    device TEXT NOT NULL,
                    alias TEXT NOT NULL,
                    tags TEXT NOT NULL,
                    pushAddress TEXT NOT NULL,
                    updated INTEGER NOT NULL,
                    PRIMARY KEY (account, device)
                ) STRICT, WITHOUT ROWID
                """)
    }
}
