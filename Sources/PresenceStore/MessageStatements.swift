internal import GRDB

/// The statements for the tables `message` and `messageContent`, prepared once for a connection.
struct MessageStatements {
    private let putContent: PreparedStatement
    private let putRecipient: PreparedStatement
    private let handOver: PreparedStatement
    private let takeRecipient: PreparedStatement
    private let removeRecipient: PreparedStatement
    private let removeContent: PreparedStatement
    private let removeExpiredContents: PreparedStatement
    private let removeExpiredRecipients: PreparedStatement
    private let selectContent: PreparedStatement

    init(_ db: Database) throws {
        putContent = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO messageContent (
                id, sender, senderDevice, time, body, ext, ref, kind, language, addressed, extra)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """)
        putRecipient = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO message (
                id, place, account, device, bytes, expires, stranger, handOver, why)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """)
        handOver = try PreparedStatement(
            db, "UPDATE message SET handOver = ?3, why = ?4 WHERE id = ?1 AND place = ?2")
        // As expired: left out at a start, and removed there.
        takeRecipient = try PreparedStatement(
            db, "UPDATE message SET expires = 0 WHERE id = ?1 AND place = ?2")
        removeRecipient = try PreparedStatement(
            db, "DELETE FROM message WHERE id = ?1 AND place = ?2")
        removeContent = try PreparedStatement(
            db,
            """
            DELETE FROM messageContent
            WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM message WHERE id = ?1)
            """)
        // By the rows that are about to be removed: a scan of all contents would read their texts.
        removeExpiredContents = try PreparedStatement(
            db,
            """
            DELETE FROM messageContent
            WHERE id IN (SELECT id FROM message WHERE expires < ?1) AND NOT EXISTS (
                SELECT 1 FROM message
                WHERE message.id = messageContent.id AND message.expires >= ?1)
            """)
        removeExpiredRecipients = try PreparedStatement(
            db, "DELETE FROM message WHERE expires < ?1")
        selectContent = try PreparedStatement(
            db,
            """
            SELECT sender, senderDevice, time, body, ext, ref, kind, language, addressed, extra
            FROM messageContent WHERE id = ?1
            """)
    }

    func put(_ content: MessageContentRow, _ recipients: [MessageRow]) throws(StoreError) {
        assert(!recipients.isEmpty, "a message for no account would stay")
        try putContent.run(
            content.id, content.sender, content.senderDevice, content.time, content.body,
            content.ext, content.ref, content.kind, content.language, content.addressed,
            content.extra)
        // SQLite would keep the texts until the next message.
        putContent.unbind()
        for row in recipients {
            assert(row.id == content.id, "a recipient of another message")
            try putRecipient.run(
                row.id, row.place, row.account, row.device, row.bytes, row.expires,
                row.isOfStranger, row.handOver, row.why)
        }
    }

    /// Notes hand-overs; missing rows are ignored.
    func handOver(_ rows: [HandOverRow]) throws(StoreError) {
        for row in rows { try handOver.run(row.key.id, row.key.place, row.number, row.why) }
    }

    /// Has rows count as expired, so that their contents stay; missing rows are ignored.
    func take(_ keys: [MessageKey]) throws(StoreError) {
        for key in keys { try takeRecipient.run(key.id, key.place) }
    }

    /// Removes rows, and each content with its last one; missing rows are ignored.
    func remove(_ keys: [MessageKey]) throws(StoreError) {
        for key in keys {
            try removeRecipient.run(key.id, key.place)
            try removeContent.run(key.id)
        }
    }

    /// Removes the rows that expired before a time, and the contents that have no other.
    func removeExpired(before time: Int64) throws(StoreError) {
        try removeExpiredContents.run(time)
        try removeExpiredRecipients.run(time)
    }

    /// The contents that are stored, in the order of `ids`.
    func contents(_ ids: [Int64]) throws(StoreError) -> [MessageContentRow] {
        var rows: [MessageContentRow] = []
        rows.reserveCapacity(ids.count)
        for id in ids {
            guard let row = try content(id) else { continue }
            rows.append(row)
        }
        return rows
    }

    private func content(_ id: Int64) throws(StoreError) -> MessageContentRow? {
        try selectContent.bind(1, id)
        guard try selectContent.next() else { return nil }
        // A statement in the middle of its rows would keep its view of the database.
        defer { selectContent.reset() }
        var row = MessageContentRow(id: id)
        row.sender = selectContent.bytes(0)
        row.senderDevice = selectContent.bytes(1)
        row.time = selectContent.integer(2)
        row.body = selectContent.bytes(3)
        row.ext = selectContent.optionalBytes(4)
        row.ref = selectContent.optionalBytes(5)
        row.kind = Int(clamping: selectContent.integer(6))
        row.language = selectContent.bytes(7)
        row.addressed = selectContent.bytes(8)
        row.extra = selectContent.bytes(9)
        return row
    }
}

extension Store {
    /// In the order of the keys, without the contents: they are read when they are needed
    /// (`Read.messages`).
    func loadMessages(_ db: Database, _ reader: inout some StoreReader & ~Copyable) throws {
        let row = try PreparedStatement(
            db,
            """
            SELECT message.id, place, account, device, bytes, expires, stranger, sender, time,
                handOver, why
            FROM message CROSS JOIN messageContent ON messageContent.id = message.id
            ORDER BY message.id, place
            """)
        while try row.next() {
            var message = MessageRow(
                id: row.integer(0), place: try row.integer(1, as: UInt16.self),
                account: row.bytes(2))
            message.device = row.bytes(3)
            message.bytes = try row.integer(4, as: Int.self)
            message.expires = row.integer(5)
            message.isOfStranger = row.integer(6) != 0
            message.sender = row.bytes(7)
            message.time = row.integer(8)
            message.handOver = row.integer(9)
            message.why = try row.integer(10, as: UInt8.self)
            reader.message(message)
        }
    }
}
