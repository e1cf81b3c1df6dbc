/// One change of the stored data.
///
/// It is carried out completely or not at all.
public enum Write: Sendable {
    /// Subscribes to all `publishers`.
    ///
    /// Rows that exist keep their `created` and get the new `expires`.
    case putSubscriptions(
        subscriber: [UInt8], type: UInt16, publishers: PackedNames, created: Int64, expires: Int64)
    /// Removes the subscriptions to `publishers`; missing ones are ignored.
    case removeSubscriptions(subscriber: [UInt8], type: UInt16, publishers: PackedNames)
    /// Removes every subscription of one type.
    case removeAllSubscriptions(subscriber: [UInt8], type: UInt16)
    /// Sets the status of an account and type.
    case putStatus(StatusRow)
    /// Removes the status of an account and type.
    case removeStatus(account: [UInt8], type: UInt16)
    /// Sets the session of an account and device.
    case putSession(SessionRow)
    /// The same of a session that is stored already: only its availability is new.
    case updateSession(SessionRow)
    /// Removes the session of an account and device.
    case removeSession(account: [UInt8], device: [UInt8])
    /// Sets what is known of an account.
    case putAccount(AccountRow)
    /// Removes what is known of an account.
    case removeAccount([UInt8])
    /// Sets what accounts keep of each other; removes rows that say nothing.
    case putRelations([RelationRow])
    /// Sets which of its subscribers see an account; nil: forgets it.
    case putVisibility(account: [UInt8], UInt8?)
    /// Sets what is kept of the password of an account.
    case putCredential(CredentialRow)
    /// Removes what is kept of the password of an account.
    case removeCredential(account: [UInt8])
    /// Sets the card of an account. Always has a ticket.
    case putCard(CardRow)
    /// Removes the card of an account.
    case removeCard(account: [UInt8])
    /// Sets what an app has said of a device, and what another one keeps that had its push address.
    /// That is removed if it has nothing.
    case putDevice(DeviceRow, takingFrom: DeviceRow? = nil)
    /// Removes what an app has said of a device.
    case removeDevice(account: [UInt8], device: [UInt8])
    /// Stores a message for its recipients, of whom there is at least one. Always has a ticket.
    case putMessage(MessageContentRow, recipients: [MessageRow])
    /// Removes messages of recipients, and the content with its last one; missing ones are ignored.
    case removeMessages([MessageKey])
    /// Has messages of recipients wait no longer, and keeps their contents until `removeMessages`,
    /// at most until `removeExpired`; missing ones are ignored.
    case takeMessages([MessageKey])
    /// Notes that messages of recipients were handed over; missing ones are ignored. Always has a
    /// ticket.
    case handOver([HandOverRow])
    /// Moves a reader within the service. Always has a ticket.
    case moveReader(ReaderMove)
    /// Forgets a reader. Always has a ticket.
    case removeReader(name: [UInt8])
    /// Reserves the sequence numbers up to this one. The reservation never goes down.
    case reserveSequence(upTo: Int64)
    /// Removes the subscriptions, statuses and messages that expired before this time.
    ///
    /// Reads their tables from end to end, for the start only: the running service removes what
    /// expires by key.
    case removeExpired(before: Int64)

    /// The number of rows, for the limit on a transaction's size. The texts of a message, a card
    /// or a device count one per 512 bytes, so that a transaction has at most 10 MB of them, or
    /// one.
    var rowCount: Int {
        switch self {
        case .putSubscriptions(_, _, let publishers, _, _),
            .removeSubscriptions(_, _, let publishers):
            publishers.count
        case .removeAllSubscriptions:
            100
        case .putRelations(let rows):
            rows.count
        case .putMessage(let content, let recipients):
            recipients.count + (content.byteCount + Self.rowBytes - 1) / Self.rowBytes
        case .removeMessages(let keys), .takeMessages(let keys):
            keys.count
        case .handOver(let rows):
            rows.count
        case .moveReader(let move):
            1 + move.begun.count + move.finished.count
        case .putCard(let row):
            1 + (row.content.count + Self.rowBytes - 1) / Self.rowBytes
        case .putDevice(let row, let owner):
            [row, owner].compactMap(\.self).reduce(0) { count, row in
                count + 1 + (row.byteCount + Self.rowBytes - 1) / Self.rowBytes
            }
        case .putStatus, .removeStatus, .putSession, .updateSession, .removeSession, .putAccount,
            .removeAccount, .putVisibility, .putCredential, .removeCredential, .removeCard,
            .removeDevice, .removeReader, .reserveSequence, .removeExpired:
            1
        }
    }

    /// The bytes of text that count as a row.
    private static let rowBytes = 512
}

/// What a write is known by. The store only returns it.
public struct StoreTicket: Hashable, Sendable {
    /// Whose write it is.
    public enum Kind: Sendable {
        case engine, password, card, reader
    }

    /// Whose write it is.
    public let kind: Kind
    /// Its number among those of its kind.
    public let number: UInt64

    /// The ticket with this number.
    public init(_ number: UInt64, of kind: Kind = .engine) {
        self.kind = kind
        self.number = number
    }
}

/// A write and its ticket.
public struct Submission: Sendable {
    /// Returned in the outcome.
    ///
    /// Nil for a *lazy* write: no outcome is reported, and the write is retained and retried until
    /// it is stored.
    public var ticket: StoreTicket?
    /// The change.
    public var write: Write

    /// Creates a submission.
    public init(ticket: StoreTicket? = nil, write: Write) {
        switch write {
        case .putMessage, .putCard, .handOver, .moveReader, .removeReader:
            precondition(ticket != nil, "a write that needs a ticket has none")
        default: break
        }
        self.ticket = ticket
        self.write = write
    }
}

extension Submission {
    /// Whether it may wait for others: a lazy status or an availability, of which a publisher makes
    /// many, or the removal of messages, which a reader takes one by one; after a crash they are
    /// sent again. Sessions do not wait: after a crash the service must know which accounts were
    /// online.
    var canWait: Bool {
        guard ticket == nil else { return false }
        switch write {
        case .putStatus, .updateSession, .removeMessages, .takeMessages: return true
        default: return false
        }
    }
}

/// The outcome of a write with a ticket.
public struct Outcome: Sendable, Equatable {
    /// The results of a write.
    public enum Result: Sendable, Equatable {
        /// It is stored, with the durability that the store was opened with.
        case committed
        /// It is not stored and never will be.
        case failed(StoreError)
        /// The database cannot be written, but the numbers are reserved beside it.
        case reserved(StoreError)
    }

    /// The submission's ticket.
    public var ticket: StoreTicket
    /// How it ended.
    public var result: Result

    /// Creates an outcome.
    public init(ticket: StoreTicket, result: Result) {
        self.ticket = ticket
        self.result = result
    }
}

/// When a write counts as stored.
public enum Durability: String, CaseIterable, Sendable {
    /// When it is on disk: it survives a power failure.
    case full
    /// When it is handed to the kernel: it survives `kill -9`; a power failure may undo the last
    /// ones.
    case relaxed
}
