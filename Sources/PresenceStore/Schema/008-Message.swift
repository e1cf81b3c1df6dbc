internal import GRDB

extension Schema {
    /// Messages that wait until their recipients take them.
    ///
    /// `message` has a row for each recipient, `messageContent` one for all of them. The keys rise,
    /// so that rows are appended and removed near the beginning. Times are milliseconds since 1970.
    /// An empty `device` means all devices of the account, an empty `sender` the service.
    @Sendable static func createMessage(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE message (
                    id INTEGER NOT NULL,
                    place INTEGER NOT NULL,
                    account TEXT NOT NULL,
                    device TEXT NOT NULL,
                    bytes INTEGER NOT NULL,
                    expires INTEGER NOT NULL,
                    stranger INTEGER NOT NULL,
                    PRIMARY KEY (id, place)
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE messageContent (
                    id INTEGER PRIMARY KEY,
                    sender TEXT NOT NULL,
                    senderDevice TEXT NOT NULL,
                    time INTEGER NOT NULL,
                    body TEXT NOT NULL,
                    ext TEXT,
                    ref TEXT,
                    kind INTEGER NOT NULL,
                    language TEXT NOT NULL,
                    addressed TEXT NOT NULL,
                    extra TEXT NOT NULL
                ) STRICT;
                """)
    }
}
