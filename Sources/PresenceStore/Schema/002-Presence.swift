internal import GRDB

extension Schema {
    /// Accounts and when they were last online, sessions, and statuses.
    ///
    /// Times are milliseconds since 1970.
    @Sendable static func createPresence(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE account (
                    name TEXT NOT NULL PRIMARY KEY,
                    value INTEGER NOT NULL,
                    lastSeen INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE session (
                    account TEXT NOT NULL,
                    device TEXT NOT NULL,
                    client INTEGER NOT NULL,
                    push INTEGER NOT NULL,
                    pushUntil INTEGER NOT NULL,
                    loggedIn INTEGER NOT NULL,
                    ordinal INTEGER NOT NULL,
                    address TEXT NOT NULL,
                    PRIMARY KEY (account, device)
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE status (
                    account TEXT NOT NULL,
                    type INTEGER NOT NULL,
                    value INTEGER NOT NULL,
                    ext TEXT,
                    kept INTEGER NOT NULL,
                    expires INTEGER NOT NULL,
                    PRIMARY KEY (account, type)
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
