internal import GRDB

extension Schema {
    /// What accounts keep of each other, and which of its subscribers see an account.
    ///
    /// `state` is whether the owner sees the contact: 0 no, 1 it has asked, 2 yes. `label` is the
    /// name and the groups, each group after a byte 0x1F.
    @Sendable static func createRelation(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE relation (
                    owner TEXT NOT NULL,
                    contact TEXT NOT NULL,
                    state INTEGER NOT NULL,
                    listed INTEGER NOT NULL,
                    approvesBefore INTEGER NOT NULL,
                    label TEXT NOT NULL,
                    requestText TEXT,
                    PRIMARY KEY (owner, contact)
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE visibility (
                    account TEXT NOT NULL PRIMARY KEY,
                    value INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
