internal import GRDB

extension Schema {
    /// How the device of a session presents itself.
    @Sendable static func addAvailability(_ db: Database) throws {
        try db.execute(
            sql: """
                ALTER TABLE session ADD COLUMN show INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE session ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE session ADD COLUMN text TEXT;
                ALTER TABLE session ADD COLUMN language TEXT NOT NULL DEFAULT '';
                ALTER TABLE session ADD COLUMN extra TEXT NOT NULL DEFAULT '';
                """)
    }
}
