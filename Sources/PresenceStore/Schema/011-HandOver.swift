internal import GRDB

extension Schema {
    /// Which messages were handed over to the app server, in which order (0: not yet) and why, and
    /// the number that identifies this database, which is a part of cursors.
    @Sendable static func addHandOver(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE message ADD COLUMN handOver INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE message ADD COLUMN why INTEGER NOT NULL DEFAULT 0;
                INSERT INTO service (key, value) VALUES ('identity', random());
                """)
    }
}
