// What a start reads: every table, and the numbers that are reserved beside them.

internal import GRDB
internal import Glibc

extension Store {
    /// Reads every table in one transaction, subscriptions last.
    func load(
        from queue: DatabaseQueue, numbersReserved: Int64,
        _ reader: inout some StoreReader & ~Copyable
    ) throws {
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN")
            defer { try? db.execute(sql: "ROLLBACK") }
            try loadService(db, numbersReserved: numbersReserved, &reader)
            try loadAccounts(db, &reader)
            try loadSessions(db, &reader)
            try loadStatuses(db, &reader)
            try loadVisibilities(db, &reader)
            try loadRelations(db, &reader)
            try loadPasswords(db, &reader)
            try loadMessages(db, &reader)
            try loadCards(db, &reader)
            try loadDevices(db, &reader)
            try loadSubscriptions(db, &reader)
        }
    }

    private func loadService(
        _ db: Database, numbersReserved: Int64, _ reader: inout some StoreReader & ~Copyable
    ) throws {
        let numbers = try loadNumbers(db, numbersReserved: numbersReserved)
        if let reserved = numbers.reserved { reader.sequence(reservedUpTo: reserved) }
        if let identity = numbers.identity { reader.identity(identity) }
    }

    /// The highest sequence number that may have been used, and the number of this database.
    func loadNumbers(
        _ db: Database, numbersReserved: Int64
    ) throws -> (reserved: Int64?, identity: Int64?) {
        let row = try PreparedStatement(
            db, "SELECT key, value FROM service WHERE key IN ('seqReserved', 'identity')")
        var reserved = numbersReserved > 0 ? numbersReserved : nil
        var identity: Int64?
        while try row.next() {
            if row.bytes(0).elementsEqual("identity".utf8) {
                identity = row.integer(1)
            } else {
                reserved = max(reserved ?? 0, row.integer(1))
            }
        }
        return (reserved, identity)
    }

    private func loadAccounts(_ db: Database, _ reader: inout some StoreReader & ~Copyable) throws {
        let row = try PreparedStatement(db, "SELECT name, value, lastSeen FROM account")
        while try row.next() {
            let value = try row.integer(1, as: Int32.self)
            let name = unsafe row.text(0)
            unsafe reader.account(name: name.span, value: value, lastSeen: row.integer(2))
        }
    }

    private func loadSessions(_ db: Database, _ reader: inout some StoreReader & ~Copyable) throws {
        let row = try PreparedStatement(
            db,
            """
            SELECT account, device, client, push, pushUntil, loggedIn, ordinal, address,
                show, priority, text, language, extra
            FROM session
            """)
        while try row.next() {
            var session = SessionRow(account: row.bytes(0), device: row.bytes(1))
            session.client = try row.integer(2, as: UInt8.self)
            session.push = row.integer(3) != 0
            session.pushUntil = row.integer(4)
            session.loggedIn = row.integer(5)
            session.ordinal = row.integer(6)
            session.address = row.bytes(7)
            session.availability.show = try row.integer(8, as: UInt8.self)
            session.availability.priority = try row.integer(9, as: Int8.self)
            session.availability.text = row.optionalBytes(10)
            session.availability.language = row.bytes(11)
            session.availability.extra = row.bytes(12)
            reader.session(session)
        }
    }

    private func loadStatuses(_ db: Database, _ reader: inout some StoreReader & ~Copyable) throws {
        let row = try PreparedStatement(
            db,
            """
            SELECT account, type, value, ext, kept, expires
            FROM status
            """)
        while try row.next() {
            var status = StatusRow(
                account: row.bytes(0), type: try row.integer(1, as: UInt16.self))
            status.value = try row.integer(2, as: Int32.self)
            status.ext = row.optionalBytes(3)
            status.kept = row.integer(4) != 0
            status.expires = row.integer(5)
            reader.status(status)
        }
    }

    private func loadVisibilities(_ db: Database, _ reader: inout some StoreReader & ~Copyable)
        throws
    {
        let row = try PreparedStatement(db, "SELECT account, value FROM visibility")
        while try row.next() {
            let value = try row.integer(1, as: UInt8.self)
            let account = unsafe row.text(0)
            unsafe reader.visibility(account: account.span, value: value)
        }
    }

    private func loadRelations(_ db: Database, _ reader: inout some StoreReader & ~Copyable) throws
    {
        let row = try PreparedStatement(
            db,
            """
            SELECT owner, contact, state, listed, approvesBefore, label, requestText, requestExtra
            FROM relation
            """)
        while try row.next() {
            var relation = RelationRow(owner: row.bytes(0), contact: row.bytes(1))
            relation.state = try row.integer(2, as: UInt8.self)
            relation.isListed = row.integer(3) != 0
            relation.approvesBefore = row.integer(4) != 0
            relation.label = row.bytes(5)
            relation.requestText = row.optionalBytes(6)
            relation.requestExtra = row.bytes(7)
            reader.relation(relation)
        }
    }

    private func loadSubscriptions(_ db: Database, _ reader: inout some StoreReader & ~Copyable)
        throws
    {
        let row = try PreparedStatement(
            db, "SELECT subscriber, type, publisher, created, expires FROM subscription")
        var subscriber: [UInt8]?
        while try row.next() {
            let name = unsafe row.text(0)
            if !(unsafe isSame(subscriber, name)) {
                unsafe subscriber = [UInt8](name)
                unsafe reader.beginSubscriber(name.span)
            }
            let type = try row.integer(1, as: UInt16.self)
            let publisher = unsafe row.text(2)
            unsafe reader.subscription(
                type: type, publisher: publisher.span, created: row.integer(3),
                expires: row.integer(4))
        }
    }
}

/// Compares with `memcmp`: a generic comparison would take as long as the scan itself.
private func isSame(_ known: [UInt8]?, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let known, known.count == name.count else { return false }
    guard let start = name.baseAddress else { return true }
    return unsafe known.withUnsafeBufferPointer { buffer in
        guard let knownStart = buffer.baseAddress else { return true }
        return unsafe memcmp(knownStart, start, name.count) == 0
    }
}
