internal import GRDB

extension Schema {
    /// What a request says besides its text.
    @Sendable static func addRequestContent(_ db: Database) throws {
        try db.execute(
            sql: "ALTER TABLE relation ADD COLUMN requestExtra TEXT NOT NULL DEFAULT ''")
    }
}
