internal import GRDB

/// The statements that carry out a `Write`, prepared once for a connection.
struct WriteStatements {
    private let putSubscription: PreparedStatement
    private let removeSubscription: PreparedStatement
    private let removeAllSubscriptions: PreparedStatement
    private let putStatus: PreparedStatement
    private let removeStatus: PreparedStatement
    private let putSession: PreparedStatement
    private let removeSession: PreparedStatement
    private let putAccount: PreparedStatement
    private let removeAccount: PreparedStatement
    private let putRelation: PreparedStatement
    private let removeRelation: PreparedStatement
    private let putVisibility: PreparedStatement
    private let removeVisibility: PreparedStatement
    let credentials: CredentialStatements
    let cards: CardStatements
    private let devices: DeviceStatements
    let messages: MessageStatements
    private let readers: ReaderStatements
    private let reserveSequence: PreparedStatement
    private let removeExpiredSubscriptions: PreparedStatement
    private let removeExpiredStatuses: PreparedStatement

    init(_ db: Database) throws {
        putSubscription = try PreparedStatement(
            db,
            """
            INSERT INTO subscription (subscriber, type, publisher, created, expires)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET expires = excluded.expires
            """)
        removeSubscription = try PreparedStatement(
            db, "DELETE FROM subscription WHERE subscriber = ?1 AND type = ?2 AND publisher = ?3")
        removeAllSubscriptions = try PreparedStatement(
            db, "DELETE FROM subscription WHERE subscriber = ?1 AND type = ?2")
        putStatus = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO status
                (account, type, value, ext, kept, expires)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """)
        removeStatus = try PreparedStatement(
            db, "DELETE FROM status WHERE account = ?1 AND type = ?2")
        putSession = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO session
                (account, device, client, push, pushUntil, loggedIn, ordinal, address,
                 show, priority, text, language, extra)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """)
        removeSession = try PreparedStatement(
            db, "DELETE FROM session WHERE account = ?1 AND device = ?2")
        putAccount = try PreparedStatement(
            db, "INSERT OR REPLACE INTO account (name, value, lastSeen) VALUES (?1, ?2, ?3)")
        removeAccount = try PreparedStatement(db, "DELETE FROM account WHERE name = ?1")
        putRelation = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO relation
                (owner, contact, state, listed, approvesBefore, label, requestText, requestExtra)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """)
        removeRelation = try PreparedStatement(
            db, "DELETE FROM relation WHERE owner = ?1 AND contact = ?2")
        putVisibility = try PreparedStatement(
            db, "INSERT OR REPLACE INTO visibility (account, value) VALUES (?1, ?2)")
        removeVisibility = try PreparedStatement(db, "DELETE FROM visibility WHERE account = ?1")
        credentials = try CredentialStatements(db)
        cards = try CardStatements(db)
        devices = try DeviceStatements(db)
        messages = try MessageStatements(db)
        readers = try ReaderStatements(db)
        reserveSequence = try PreparedStatement(
            db,
            """
            INSERT INTO service (key, value) VALUES ('seqReserved', ?1)
            ON CONFLICT DO UPDATE SET value = max(value, excluded.value)
            """)
        removeExpiredSubscriptions = try PreparedStatement(
            db, "DELETE FROM subscription WHERE expires < ?1")
        removeExpiredStatuses = try PreparedStatement(
            db, "DELETE FROM status WHERE expires < ?1")
    }

    /// Carries out one write in the open transaction.
    func run(_ write: borrowing Write) throws(StoreError) {
        switch copy write {
        case .putSubscriptions(let subscriber, let type, let publishers, let created, let expires):
            try putSubscription.bind(4, created)
            try putSubscription.bind(5, expires)
            try run(putSubscription, subscriber: subscriber, type: type, publishers: publishers)
        case .removeSubscriptions(let subscriber, let type, let publishers):
            try run(removeSubscription, subscriber: subscriber, type: type, publishers: publishers)
        case .removeAllSubscriptions(let subscriber, let type):
            try removeAllSubscriptions.run(subscriber, type)
        case .putStatus(let row):
            try putStatus.run(
                row.account, row.type, row.value, row.ext, row.kept, row.expires)
        case .removeStatus(let account, let type):
            try removeStatus.run(account, type)
        case .putSession(let row), .updateSession(let row):
            try put(row)
        case .removeSession(let account, let device):
            try removeSession.run(account, device)
        case .putAccount(let row):
            try putAccount.run(row.name, row.value, row.lastSeen)
        case .removeAccount(let name):
            try removeAccount.run(name)
        case .putRelations(let rows):
            for row in rows { try put(row) }
        case .putVisibility(let account, let value?):
            try putVisibility.run(account, value)
        case .putVisibility(let account, nil):
            try removeVisibility.run(account)
        case .putCredential(let row):
            try credentials.put(row)
        case .removeCredential(let account):
            try credentials.remove(account)
        case .putCard(let row):
            try cards.put(row)
        case .removeCard(let account):
            try cards.remove(account)
        case .putDevice(let row, let owner):
            if let owner { try devices.putOwner(owner) }
            try devices.put(row)
        case .removeDevice(let account, let device):
            try devices.remove(account, device)
        case .putMessage(let content, let recipients):
            try messages.put(content, recipients)
        case .takeMessages(let keys):
            try messages.take(keys)
        case .removeMessages(let keys):
            try messages.remove(keys)
        case .handOver(let rows):
            try messages.handOver(rows)
        case .moveReader(let move):
            try readers.move(move)
        case .removeReader(let name):
            try readers.remove(name)
        case .reserveSequence(let upTo):
            try reserveSequence.run(upTo)
        case .removeExpired(let before):
            try removeExpiredSubscriptions.run(before)
            try removeExpiredStatuses.run(before)
            try messages.removeExpired(before: before)
        }
    }

    /// Runs `statement` for each publisher.
    ///
    /// The subscriber is bound once and the names are bound in place: a row costs one bind and one
    /// step.
    private func run(
        _ statement: PreparedStatement, subscriber: [UInt8], type: UInt16, publishers: PackedNames
    ) throws(StoreError) {
        try statement.bind(1, subscriber)
        try statement.bind(2, type)
        try unsafe publishers.bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
            for range in publishers {
                try unsafe statement.bind(
                    3, inPlace: UnsafeBufferPointer(rebasing: bytes[range]))
                try statement.run()
            }
        }
        statement.unbind()
    }

    private func put(_ row: SessionRow) throws(StoreError) {
        let shown = row.availability
        try putSession.run(
            row.account, row.device, row.client, row.push, row.pushUntil, row.loggedIn, row.ordinal,
            row.address, shown.show, shown.priority, shown.text, shown.language, shown.extra)
    }

    private func put(_ row: RelationRow) throws(StoreError) {
        guard !row.isEmpty else { return try removeRelation.run(row.owner, row.contact) }
        try putRelation.run(
            row.owner, row.contact, row.state, row.isListed, row.approvesBefore, row.label,
            row.requestText, row.requestExtra)
    }
}
