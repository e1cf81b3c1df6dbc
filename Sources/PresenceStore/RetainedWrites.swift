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
    /// What only the newest write matters of.
    private enum Key: Hashable {
        case account([UInt8])
        case session(account: [UInt8], device: [UInt8])
        case status(account: [UInt8], type: UInt16)
        case relation(owner: [UInt8], contact: [UInt8])
        case visibility([UInt8])
        case credential([UInt8])
        case card([UInt8])
        case device(account: [UInt8], device: [UInt8])
    }

    private struct GroupKey: Hashable {
        var subscriber: [UInt8]
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
    private var newest: [Key: Write] = [:]
    private var groups: [GroupKey: Group] = [:]
    /// Messages that are to be removed. None is put again.
    private var messages: Set<MessageKey> = []
    /// Messages that were taken, of which others are still to be sent the contents.
    private var takenMessages: Set<MessageKey> = []

    var isEmpty: Bool {
        expiredBefore == nil && sequence == nil && newest.isEmpty && groups.isEmpty
            && messages.isEmpty && takenMessages.isEmpty
    }

    /// The number of retained keys.
    var keyCount: Int {
        groups.values.reduce(newest.count) { $0 + $1.rows.count + ($1.isCleared ? 1 : 0) }
            + messages.count + takenMessages.count + (sequence == nil ? 0 : 1)
            + (expiredBefore == nil ? 0 : 1)
    }

    /// Adds a write that is newer than all retained ones.
    mutating func absorb(_ write: Write) {
        switch write {
        case .putSubscriptions(let subscriber, let type, let publishers, let created, let expires):
            let key = GroupKey(subscriber: subscriber, type: type)
            for range in publishers {
                groups[key, default: Group()].put(
                    [UInt8](publishers.bytes[range]), created: created, expires: expires)
            }
        case .removeSubscriptions(let subscriber, let type, let publishers):
            let key = GroupKey(subscriber: subscriber, type: type)
            for range in publishers {
                groups[key, default: Group()].rows[[UInt8](publishers.bytes[range])] = .removed
            }
        case .removeAllSubscriptions(let subscriber, let type):
            groups[GroupKey(subscriber: subscriber, type: type)] = Group(isCleared: true)
        case .putStatus(let row):
            newest[.status(account: row.account, type: row.type)] = write
        case .removeStatus(let account, let type):
            newest[.status(account: account, type: type)] = write
        case .putSession(let row), .updateSession(let row):
            newest[.session(account: row.account, device: row.device)] = .putSession(row)
        case .removeSession(let account, let device):
            newest[.session(account: account, device: device)] = write
        case .putAccount(let row):
            newest[.account(row.name)] = write
        case .removeAccount(let name):
            newest[.account(name)] = write
        case .putRelations(let rows):
            for row in rows {
                newest[.relation(owner: row.owner, contact: row.contact)] = .putRelations([row])
            }
        case .putVisibility(let account, _):
            newest[.visibility(account)] = write
        case .putCredential(let row):
            newest[.credential(row.account)] = write
        case .removeCredential(let account):
            newest[.credential(account)] = write
        case .removeCard(let account):
            newest[.card(account)] = write
        case .putDevice(let row, let owner):
            newest[.device(account: row.account, device: row.device)] = .putDevice(row)
            guard let owner else { break }
            newest[.device(account: owner.account, device: owner.device)] =
                owner.isEmpty
                ? .removeDevice(account: owner.account, device: owner.device) : .putDevice(owner)
        case .removeDevice(let account, let device):
            newest[.device(account: account, device: device)] = write
        case .putMessage, .putCard, .handOver, .moveReader, .removeReader:
            preconditionFailure("a write that needs a ticket has none")
        case .removeMessages(let keys):
            messages.formUnion(keys)
            takenMessages.subtract(keys)
        case .takeMessages(let keys):
            takenMessages.formUnion(keys)
        case .reserveSequence(let upTo):
            sequence = max(sequence ?? upTo, upTo)
        case .removeExpired(let before):
            expiredBefore = before
        }
    }

    /// What is to become of the credential of an account; nil: nothing is retained of it.
    func credential(of account: [UInt8]) -> CredentialRow?? {
        guard let write = newest[.credential(account)] else { return nil }
        if case .putCredential(let row) = write { return row }
        return .some(nil)
    }

    /// Returns all of them as writes, and is empty afterwards.
    mutating func drain() -> [Submission] {
        var writes: [Submission] = []
        if let expiredBefore {
            writes.append(Submission(write: .removeExpired(before: expiredBefore)))
        }
        if let sequence { writes.append(Submission(write: .reserveSequence(upTo: sequence))) }
        for write in newest.values { writes.append(Submission(write: write)) }
        for (key, group) in groups {
            group.append(to: &writes, subscriber: key.subscriber, type: key.type)
        }
        append(takenMessages, to: &writes) { .takeMessages($0) }
        append(messages, to: &writes) { .removeMessages($0) }
        self = RetainedWrites()
        return writes
    }

    /// Several in a write, but not all: a write is never divided among transactions.
    private func append(
        _ messages: Set<MessageKey>, to writes: inout [Submission],
        _ write: ([MessageKey]) -> Write
    ) {
        var rest = messages.sorted { ($0.id, $0.place) < ($1.id, $1.place) }[...]
        while !rest.isEmpty {
            writes.append(Submission(write: write(Array(rest.prefix(1_000)))))
            rest = rest.dropFirst(1_000)
        }
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
