/// One change of what is stored.
///
/// Each is carried out wholly or not at all.
public enum Write: Sendable {
    /// Subscribes to all `publishers`.
    ///
    /// Rows that exist keep their `created` and get the new `expires`.
    case putSubscriptions(
        subscriber: [UInt8], type: UInt16, publishers: NameList, created: Int64, expires: Int64)
    /// Removes the subscriptions to `publishers`; those that do not exist are passed over.
    case removeSubscriptions(subscriber: [UInt8], type: UInt16, publishers: NameList)
    /// Removes every subscription of one type.
    case removeAllSubscriptions(subscriber: [UInt8], type: UInt16)
    /// Sets the status of an account and type.
    case putStatus(StatusRow)
    /// Removes the status of an account and type.
    case removeStatus(account: [UInt8], type: UInt16)
    /// Sets the session of an account and device.
    case putSession(SessionRow)
    /// Removes the session of an account and device.
    case removeSession(account: [UInt8], device: [UInt8])
    /// Sets what is known of an account.
    case putAccount(AccountRow)
    /// Removes what is known of an account.
    case removeAccount([UInt8])
    /// Says that sequence numbers up to this one may be used. Never goes down.
    case reserveSequence(upTo: Int64)
    /// Removes the subscriptions and statuses that expired before this time.
    ///
    /// Reads both tables from end to end: a housekeeping write for the start, since the
    /// running service removes what expires by key.
    case removeExpired(before: Int64)

    /// A measure of the work, for the bound on a transaction's size.
    var rowCount: Int {
        switch self {
        case .putSubscriptions(_, _, let publishers, _, _),
            .removeSubscriptions(_, _, let publishers):
            publishers.count
        case .removeAllSubscriptions:
            100
        case .putStatus, .removeStatus, .putSession, .removeSession, .putAccount, .removeAccount,
            .reserveSequence, .removeExpired:
            1
        }
    }
}

/// A write and who waits for it.
public struct Submission: Sendable {
    /// Comes back in the outcome.
    ///
    /// Nil says that nobody waits: a *lazy* write, which is kept and tried again until it is
    /// stored.
    public var ticket: UInt64?
    /// What to change.
    public var write: Write

    /// Creates a submission.
    public init(ticket: UInt64? = nil, write: Write) {
        self.ticket = ticket
        self.write = write
    }
}

extension Submission {
    /// Whether it may wait for others: a status that nobody waits for, of which a publisher
    /// makes many. Sessions do not wait: a crash must not forget who was there.
    var isPatient: Bool {
        guard ticket == nil, case .putStatus = write else { return false }
        return true
    }
}

/// What became of a write that somebody waits for.
public struct Outcome: Sendable, Equatable {
    /// How a write can end.
    public enum Result: Sendable, Equatable {
        /// It is stored, as durably as the store was opened for.
        case committed
        /// It is not stored and never will be.
        case failed(StoreFault)
    }

    /// The submission's ticket.
    public var ticket: UInt64
    /// How it ended.
    public var result: Result

    /// Creates an outcome.
    public init(ticket: UInt64, result: Result) {
        self.ticket = ticket
        self.result = result
    }
}

/// When a write counts as stored.
public enum Durability: Sendable {
    /// When it has reached the disk: it survives a loss of power.
    case full
    /// When the kernel has it: it survives `kill -9`, and a loss of power may undo the last ones.
    case relaxed
}
