internal import GRDB

extension Schema {
    /// The positions of the readers within the service, webhooks and Web Push, and what each has
    /// not finished before its position: a message, by the number of its hand-over, and a device.
    ///
    /// Without a `cursor` the position is the beginning. `sent` is in milliseconds since 1970.
    @Sendable static func createReader(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE reader (
                    name TEXT NOT NULL PRIMARY KEY,
                    cursor TEXT
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE unfinished (
                    reader TEXT NOT NULL,
                    number INTEGER NOT NULL,
                    device TEXT NOT NULL,
                    account TEXT NOT NULL,
                    sent INTEGER NOT NULL,
                    PRIMARY KEY (reader, number, device)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
