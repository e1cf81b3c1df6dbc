/// The lazy writes of failed transactions, retained until one succeeds.
///
/// Only the final state of each key is kept, so that an outage of any length costs memory by the
/// number of keys, not of writes. Different keys do not depend on each other, so the order in which
/// they are written again does not matter; for each key the newest write wins.
///
/// Two cases need more than the newest write. A subscription that was put twice keeps its first
/// `created`; one that was removed in between must not find its old row again, so it is written as
/// a removal followed by a put. And `removeExpired` comes first, so that it cannot remove what was
/// put after it.
struct RetainedWrites {
    private struct SessionKey: Hashable {
        var account: [UInt8]
        var device: [UInt8]
    }

    private struct RelationKey: Hashable {
        var owner: [UInt8]
        var contact: [UInt8]
    }

    private struct TypedKey: Hashable {
        var account: [UInt8]
        var type: UInt16
    }

    fileprivate enum Subscription {
        case removed
        case put(created: Int64, expires: Int64, afterRemoval: Bool)
    }

    /// One subscriber's subscriptions of one type.
    fileprivate struct Group {
        var isCleared = false
        var rows: [[UInt8]: Subscription] = [:]
    }

    private var expiredBefore: Int64?
    private var sequence: Int64?
    private var accounts: [[UInt8]: AccountRow?] = [:]
    private var sessions: [SessionKey: SessionRow?] = [:]
    private var statuses: [TypedKey: StatusRow?] = [:]
    private var groups: [TypedKey: Group] = [:]
    private var relations: [RelationKey: RelationRow] = [:]
    private var visibilities: [[UInt8]: UInt8?] = [:]
    private var credentials: [[UInt8]: CredentialRow?] = [:]

    var isEmpty: Bool {
        expiredBefore == nil && sequence == nil && accounts.isEmpty && sessions.isEmpty
            && statuses.isEmpty && groups.isEmpty && relations.isEmpty && visibilities.isEmpty
            && credentials.isEmpty
    }

    /// The number of retained keys.
    var keyCount: Int {
        groups.values.reduce(accounts.count + sessions.count + statuses.count) {
            $0 + $1.rows.count + ($1.isCleared ? 1 : 0)
        } + relations.count + visibilities.count + credentials.count
            + (sequence == nil ? 0 : 1) + (expiredBefore == nil ? 0 : 1)
    }

    /// Adds a write that is newer than all retained ones.
    mutating func absorb(_ write: Write) {
        switch write {
        case .putSubscriptions(let subscriber, let type, let publishers, let created, let expires):
            let key = TypedKey(account: subscriber, type: type)
            for range in publishers {
                groups[key, default: Group()].put(
                    [UInt8](publishers.bytes[range]), created: created, expires: expires)
            }
        case .removeSubscriptions(let subscriber, let type, let publishers):
            let key = TypedKey(account: subscriber, type: type)
            for range in publishers {
                groups[key, default: Group()].rows[[UInt8](publishers.bytes[range])] = .removed
            }
        case .removeAllSubscriptions(let subscriber, let type):
            groups[TypedKey(account: subscriber, type: type)] = Group(isCleared: true)
        case .putStatus(let row):
            statuses[TypedKey(account: row.account, type: row.type)] = .some(row)
        case .removeStatus(let account, let type):
            statuses[TypedKey(account: account, type: type)] = .some(nil)
        case .putSession(let row), .updateSession(let row):
            sessions[SessionKey(account: row.account, device: row.device)] = .some(row)
        case .removeSession(let account, let device):
            sessions[SessionKey(account: account, device: device)] = .some(nil)
        case .putAccount(let row):
            accounts[row.name] = .some(row)
        case .removeAccount(let name):
            accounts[name] = .some(nil)
        case .putRelations(let rows):
            for row in rows {
                relations[RelationKey(owner: row.owner, contact: row.contact)] = row
            }
        case .putVisibility(let account, let value):
            visibilities[account] = .some(value)
        case .putCredential(let row):
            credentials[row.account] = .some(row)
        case .removeCredential(let account):
            credentials[account] = .some(nil)
        case .reserveSequence(let upTo):
            sequence = max(sequence ?? upTo, upTo)
        case .removeExpired(let before):
            expiredBefore = before
        }
    }

    /// What is to become of the credential of an account; nil: nothing is retained of it.
    func credential(of account: [UInt8]) -> CredentialRow?? { credentials[account] }

    /// Returns all of them as writes, and is empty afterwards.
    mutating func drain() -> [Submission] {
        var writes: [Submission] = []
        if let expiredBefore {
            writes.append(Submission(write: .removeExpired(before: expiredBefore)))
        }
        if let sequence { writes.append(Submission(write: .reserveSequence(upTo: sequence))) }
        for (name, row) in accounts {
            let write: Write = if let row { .putAccount(row) } else { .removeAccount(name) }
            writes.append(Submission(write: write))
        }
        for (key, row) in sessions {
            let write: Write =
                if let row {
                    .putSession(row)
                } else {
                    .removeSession(account: key.account, device: key.device)
                }
            writes.append(Submission(write: write))
        }
        for (key, row) in statuses {
            let write: Write =
                if let row {
                    .putStatus(row)
                } else {
                    .removeStatus(account: key.account, type: key.type)
                }
            writes.append(Submission(write: write))
        }
        if !relations.isEmpty {
            writes.append(Submission(write: .putRelations(Array(relations.values))))
        }
        for (account, value) in visibilities {
            writes.append(Submission(write: .putVisibility(account: account, value)))
        }
        for (account, row) in credentials {
            let write: Write =
                if let row { .putCredential(row) } else { .removeCredential(account: account) }
            writes.append(Submission(write: write))
        }
        for (key, group) in groups {
            group.append(to: &writes, subscriber: key.account, type: key.type)
        }
        self = RetainedWrites()
        return writes
    }
}

extension RetainedWrites.Group {
    fileprivate mutating func put(_ publisher: [UInt8], created: Int64, expires: Int64) {
        rows[publisher] =
            switch rows[publisher] {
            case .none:
                .put(created: created, expires: expires, afterRemoval: false)
            case .removed:
                .put(created: created, expires: expires, afterRemoval: true)
            case .put(let first, _, let afterRemoval):
                .put(created: first, expires: expires, afterRemoval: afterRemoval)
            }
    }

    /// Appends the removals first: the whole group, then the single ones, then the puts.
    fileprivate func append(to writes: inout [Submission], subscriber: [UInt8], type: UInt16) {
        if isCleared {
            writes.append(
                Submission(write: .removeAllSubscriptions(subscriber: subscriber, type: type)))
        }
        var removed = PackedNames()
        for (publisher, row) in rows {
            switch row {
            case .removed, .put(_, _, afterRemoval: true): removed.append(publisher)
            case .put(_, _, afterRemoval: false): break
            }
        }
        if !removed.isEmpty {
            writes.append(
                Submission(
                    write: .removeSubscriptions(
                        subscriber: subscriber, type: type, publishers: removed)))
        }
        for (publisher, row) in rows {
            guard case .put(let created, let expires, _) = row else { continue }
            writes.append(
                Submission(
                    write: .putSubscriptions(
                        subscriber: subscriber, type: type, publishers: PackedNames([publisher]),
                        created: created, expires: expires)))
        }
    }
}
