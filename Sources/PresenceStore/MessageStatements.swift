internal import GRDB

/// The statements for the tables `message` and `messageContent`, prepared once for a connection.
struct MessageStatements {
    private let putContent: PreparedStatement
    private let putRecipient: PreparedStatement
    private let handOver: PreparedStatement
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
        putContent.bind(1, content.id)
        try putContent.bind(2, content.sender)
        try putContent.bind(3, content.senderDevice)
        putContent.bind(4, content.time)
        try putContent.bind(5, content.body)
        try putContent.bind(6, optional: content.ext)
        try putContent.bind(7, optional: content.ref)
        putContent.bind(8, Int64(content.kind))
        try putContent.bind(9, content.language)
        try putContent.bind(10, content.addressed)
        try putContent.bind(11, content.extra)
        try putContent.run()
        // SQLite would keep the texts until the next message.
        putContent.unbind()
        for row in recipients {
            assert(row.id == content.id, "a recipient of another message")
            try put(row)
        }
    }

    private func put(_ row: MessageRow) throws(StoreError) {
        putRecipient.bind(1, row.id)
        putRecipient.bind(2, Int64(row.place))
        try putRecipient.bind(3, row.account)
        try putRecipient.bind(4, row.device)
        putRecipient.bind(5, Int64(row.bytes))
        putRecipient.bind(6, row.expires)
        putRecipient.bind(7, row.isOfStranger ? 1 : 0)
        putRecipient.bind(8, row.handOver)
        putRecipient.bind(9, Int64(row.why))
        try putRecipient.run()
    }

    /// Notes hand-overs; missing rows are ignored.
    func handOver(_ rows: [HandOverRow]) throws(StoreError) {
        for row in rows {
            handOver.bind(1, row.key.id)
            handOver.bind(2, Int64(row.key.place))
            handOver.bind(3, row.number)
            handOver.bind(4, Int64(row.why))
            try handOver.run()
        }
    }

    /// Removes rows, and each content with its last one; missing rows are ignored.
    func remove(_ keys: [MessageKey]) throws(StoreError) {
        for key in keys {
            removeRecipient.bind(1, key.id)
            removeRecipient.bind(2, Int64(key.place))
            try removeRecipient.run()
            removeContent.bind(1, key.id)
            try removeContent.run()
        }
    }

    /// Removes the rows that expired before a time, and the contents that have no other.
    func removeExpired(before time: Int64) throws(StoreError) {
        removeExpiredContents.bind(1, time)
        try removeExpiredContents.run()
        removeExpiredRecipients.bind(1, time)
        try removeExpiredRecipients.run()
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
        selectContent.bind(1, id)
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
