internal import GRDB

extension Schema {
    /// Subscriptions: subscriber, publisher, type and expiry.
    ///
    /// Times are milliseconds since 1970.
    ///
    /// There is no index on `expires`: the running service removes what expires by key, and
    /// the one scan for the rest is made at the start, when everything is read anyway.
    @Sendable static func createSubscription(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE subscription (
                    subscriber TEXT NOT NULL,
                    type INTEGER NOT NULL,
                    publisher TEXT NOT NULL,
                    created INTEGER NOT NULL,
                    expires INTEGER NOT NULL,
                    PRIMARY KEY (subscriber, type, publisher)
                ) STRICT, WITHOUT ROWID
                """)
    }
}
