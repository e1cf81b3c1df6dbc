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
            putSubscription.bind(4, created)
            putSubscription.bind(5, expires)
            try run(putSubscription, subscriber: subscriber, type: type, publishers: publishers)
        case .removeSubscriptions(let subscriber, let type, let publishers):
            try run(removeSubscription, subscriber: subscriber, type: type, publishers: publishers)
        case .removeAllSubscriptions(let subscriber, let type):
            try run(removeAllSubscriptions, key: subscriber, type: type)
        case .putStatus(let row):
            try put(row)
        case .removeStatus(let account, let type):
            try run(removeStatus, key: account, type: type)
        case .putSession(let row), .updateSession(let row):
            try put(row)
        case .removeSession(let account, let device):
            try removeSession.bind(1, account)
            try removeSession.bind(2, device)
            try removeSession.run()
        case .putAccount(let row):
            try putAccount.bind(1, row.name)
            putAccount.bind(2, Int64(row.value))
            putAccount.bind(3, row.lastSeen)
            try putAccount.run()
        case .removeAccount(let name):
            try removeAccount.bind(1, name)
            try removeAccount.run()
        case .putRelations(let rows):
            for row in rows { try put(row) }
        case .putVisibility(let account, let value):
            try put(visibility: value, of: account)
        case .putCredential(let row):
            try credentials.put(row)
        case .removeCredential(let account):
            try credentials.remove(account)
        case .putCard(let row):
            try cards.put(row)
        case .removeCard(let account):
            try cards.remove(account)
        case .putDevice(let row):
            try devices.put(row)
        case .removeDevice(let account, let device):
            try devices.remove(account, device)
        case .putMessage(let content, let recipients):
            try messages.put(content, recipients)
        case .removeMessages(let keys):
            try messages.remove(keys)
        case .handOver(let rows):
            try messages.handOver(rows)
        case .reserveSequence(let upTo):
            reserveSequence.bind(1, upTo)
            try reserveSequence.run()
        case .removeExpired(let before):
            removeExpiredSubscriptions.bind(1, before)
            try removeExpiredSubscriptions.run()
            removeExpiredStatuses.bind(1, before)
            try removeExpiredStatuses.run()
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
        statement.bind(2, Int64(type))
        try statement.bind(1, subscriber)
        try unsafe publishers.bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
            for range in publishers {
                try unsafe statement.bind(
                    3, inPlace: UnsafeBufferPointer(rebasing: bytes[range]))
                try statement.run()
            }
        }
        statement.unbind()
    }

    private func run(
        _ statement: PreparedStatement, key: [UInt8], type: UInt16
    ) throws(StoreError) {
        try statement.bind(1, key)
        statement.bind(2, Int64(type))
        try statement.run()
    }

    private func put(_ row: StatusRow) throws(StoreError) {
        try putStatus.bind(1, row.account)
        putStatus.bind(2, Int64(row.type))
        putStatus.bind(3, Int64(row.value))
        try putStatus.bind(4, optional: row.ext)
        putStatus.bind(5, row.kept ? 1 : 0)
        putStatus.bind(6, row.expires)
        try putStatus.run()
    }

    private func put(_ row: SessionRow) throws(StoreError) {
        try putSession.bind(1, row.account)
        try putSession.bind(2, row.device)
        putSession.bind(3, Int64(row.client))
        putSession.bind(4, row.push ? 1 : 0)
        putSession.bind(5, row.pushUntil)
        putSession.bind(6, row.loggedIn)
        putSession.bind(7, row.ordinal)
        try putSession.bind(8, row.address)
        putSession.bind(9, Int64(row.availability.show))
        putSession.bind(10, Int64(row.availability.priority))
        try putSession.bind(11, optional: row.availability.text)
        try putSession.bind(12, row.availability.language)
        try putSession.bind(13, row.availability.extra)
        try putSession.run()
    }

    private func put(_ row: RelationRow) throws(StoreError) {
        let statement = row.isEmpty ? removeRelation : putRelation
        try statement.bind(1, row.owner)
        try statement.bind(2, row.contact)
        if !row.isEmpty {
            statement.bind(3, Int64(row.state))
            statement.bind(4, row.isListed ? 1 : 0)
            statement.bind(5, row.approvesBefore ? 1 : 0)
            try statement.bind(6, row.label)
            try statement.bind(7, optional: row.requestText)
            try statement.bind(8, row.requestExtra)
        }
        try statement.run()
    }

    private func put(visibility: UInt8?, of account: [UInt8]) throws(StoreError) {
        let statement = visibility == nil ? removeVisibility : putVisibility
        try statement.bind(1, account)
        if let visibility { statement.bind(2, Int64(visibility)) }
        try statement.run()
    }
}
