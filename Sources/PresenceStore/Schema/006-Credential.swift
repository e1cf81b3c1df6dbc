internal import GRDB

extension Schema {
    /// What is kept of the passwords of accounts: salts and keys, never a password.
    ///
    /// `created` is in milliseconds since 1970. The secret makes the salts that are shown for
    /// accounts without a password: those of another service are different.
    @Sendable static func createCredential(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE credential (
                    account TEXT NOT NULL PRIMARY KEY,
                    iterations INTEGER NOT NULL,
                    salt BLOB NOT NULL,
                    storedSHA1 BLOB NOT NULL,
                    serverSHA1 BLOB NOT NULL,
                    storedSHA256 BLOB NOT NULL,
                    serverSHA256 BLOB NOT NULL,
                    created INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID
                """)
        try db.execute(
            sql: "INSERT INTO service (key, value) VALUES ('passwordSecret', randomblob(32))")
    }
}
