import Containers
import PresenceStore

@testable import PresenceServer

/// A disk that is slow, fails, and forgets what it has not committed when there is a crash.
final class SimulatedDisk: Persistence {
    /// A bug that the simulator must find.
    enum Canary { case none, acknowledgesWhatItForgets }

    struct Key: Hashable {
        var account: [UInt8]
        var other: [UInt8] = []
        var type: UInt16 = 0
    }

    /// What is on the disk.
    struct Tables {
        var sequence: Int64 = 0
        var accounts: [Key: AccountRow] = [:]
        var sessions: [Key: SessionRow] = [:]
        var statuses: [Key: StatusRow] = [:]
        var credentials: [Key: CredentialRow] = [:]
        var subscriptions: [Key: (created: Int64, expires: Int64)] = [:]
        /// By owner and contact.
        var relations: [Key: RelationRow] = [:]
        var visibilities: [Key: UInt8] = [:]
        var messages: [MessageKey: MessageRow] = [:]
        var cards: [Key: CardRow] = [:]
        /// By account and device.
        var devices: [Key: DeviceRow] = [:]
        var contents: [Int64: MessageContentRow] = [:]
    }

    private(set) var durable = Tables()
    private(set) var handOvers = SimulatedHandOvers()
    private var queue: [Submission] = []
    private var reads: [(Read, UInt64)] = []
    /// Lazy writes that failed; they go first next time.
    private var retained: [Submission] = []
    let canary: Canary
    var counters = StoreCounters()
    var commitTimes: DurationHistogram { DurationHistogram() }

    init(canary: Canary = .none) { self.canary = canary }

    var isIdle: Bool { queue.isEmpty && retained.isEmpty && reads.isEmpty }

    func submit(_ batch: consuming [Submission]) { queue += batch }

    func submit(_ read: Read, token: UInt64) { reads.append((read, token)) }

    /// Answers everything that was asked, or fails to.
    func answerReads(isFailing: Bool) -> [ReadOutcome] {
        let asked = reads
        reads = []
        func content<Value>(_ value: Value) -> ReadOutcome.Content<Value> {
            isFailing ? .failure(StoreError(code: 10)) : .success(value)
        }
        return asked.map { read, token in
            let result: ReadOutcome.Result =
                switch read {
                case .credential(let account):
                    .credential(content(durable.credentials[Key(account: account)]))
                case .card(let account):
                    .card(content(durable.cards[Key(account: account)]?.content))
                case .messages(let ids):
                    .messages(content(ids.compactMap { durable.contents[$0] }))
                case .undelivered(let ids):
                    .undelivered(content(ids.compactMap { durable.contents[$0] }))
                }
            return ReadOutcome(token: token, result: result)
        }
    }

    /// Commits everything that has gathered, or fails to.
    func settle(isFailing: Bool, lies: Bool = false) -> [Outcome] {
        let batch = queue
        queue = []
        let tickets = batch.compactMap(\.ticket)
        if isFailing {
            retained += batch.filter { $0.ticket == nil }
            counters.failures += 1
            return tickets.map { Outcome(ticket: $0, result: .failed(StoreError(code: 13))) }
        }
        if canary != .acknowledgesWhatItForgets || !lies {
            for submission in retained + batch { apply(submission.write) }
        }
        retained = []
        counters.commits += 1
        return tickets.map { Outcome(ticket: $0, result: .committed) }
    }

    /// What had not been committed is gone.
    func crash() {
        queue = []
        retained = []
        reads = []
    }

    private func apply(_ write: Write) {
        switch write {
        case .putSubscriptions(let subscriber, let type, let publishers, let created, let expires):
            for range in publishers {
                let key = Key(
                    account: subscriber, other: Array(publishers.bytes[range]), type: type)
                let before = durable.subscriptions[key]?.created ?? created
                durable.subscriptions[key] = (before, expires)
            }
        case .removeSubscriptions(let subscriber, let type, let publishers):
            for range in publishers {
                durable.subscriptions[
                    Key(account: subscriber, other: Array(publishers.bytes[range]), type: type)] =
                    nil
            }
        case .removeAllSubscriptions(let subscriber, let type):
            for key in durable.subscriptions.keys
            where key.account == subscriber && key.type == type {
                durable.subscriptions[key] = nil
            }
        case .putStatus(let row):
            durable.statuses[Key(account: row.account, type: row.type)] = row
        case .removeStatus(let account, let type):
            durable.statuses[Key(account: account, type: type)] = nil
        case .putSession(let row), .updateSession(let row):
            durable.sessions[Key(account: row.account, other: row.device)] = row
        case .removeSession(let account, let device):
            durable.sessions[Key(account: account, other: device)] = nil
        case .putAccount(let row):
            durable.accounts[Key(account: row.name)] = row
        case .removeAccount(let name):
            durable.accounts[Key(account: name)] = nil
        case .putRelations(let rows):
            for row in rows {
                durable.relations[Key(account: row.owner, other: row.contact)] =
                    row.isEmpty ? nil : row
            }
        case .putVisibility(let account, let value):
            durable.visibilities[Key(account: account)] = value
        case .putCredential(let row):
            durable.credentials[Key(account: row.account)] = row
        case .removeCredential(let account):
            durable.credentials[Key(account: account)] = nil
        case .putCard(let row):
            durable.cards[Key(account: row.account)] = row
        case .removeCard(let account):
            durable.cards[Key(account: account)] = nil
        case .putDevice(let row, let owner):
            for row in [row, owner].compactMap(\.self) { put(row) }
        case .removeDevice(let account, let device):
            durable.devices[Key(account: account, other: device)] = nil
        case .putMessage(let content, let recipients):
            durable.contents[content.id] = content
            handOvers.note(content, recipients)
            for row in recipients {
                durable.messages[MessageKey(id: row.id, place: row.place)] = row
            }
        case .takeMessages(let keys):
            for key in keys { durable.messages[key]?.expires = 0 }
        case .removeMessages(let keys):
            for key in keys { durable.messages[key] = nil }
            removeUnusedContents()
        case .handOver(let rows):
            for row in rows { handOver(row) }
        case .moveReader, .removeReader: preconditionFailure("there are no senders")
        case .reserveSequence(let end):
            durable.sequence = max(durable.sequence, end)
        case .removeExpired(let before):
            removeExpired(before)
        }
    }

    private func put(_ row: DeviceRow) {
        let isEmpty = row.alias.isEmpty && row.tags.isEmpty && row.pushAddress.isEmpty
        durable.devices[Key(account: row.account, other: row.device)] = isEmpty ? nil : row
    }

    private func handOver(_ row: HandOverRow) {
        guard durable.messages[row.key] != nil else { return }
        durable.messages[row.key]?.handOver = row.number
        durable.messages[row.key]?.why = row.why
        handOvers.note(row.key, row.number, row.why)
    }

    private func removeExpired(_ before: Int64) {
        durable.statuses = durable.statuses.filter { $0.value.expires > before }
        durable.subscriptions = durable.subscriptions.filter { $0.value.expires > before }
        durable.messages = durable.messages.filter { $0.value.expires >= before }
        removeUnusedContents()
    }

    var summariesOfCards: [CardSummary] {
        durable.cards.values.map {
            CardSummary(account: $0.account, byteCount: $0.content.count, updated: $0.updated)
        }
    }

    /// Removes the contents of messages that no recipient has still to take.
    private func removeUnusedContents() {
        let used = Set(durable.messages.keys.map(\.id))
        durable.contents = durable.contents.filter { used.contains($0.key) }
    }

    /// Gives everything to a reader, as the store does, in an order that depends on nothing else.
    func load(_ reader: inout EngineReader) {
        func before(_ a: Key, _ b: Key) -> Bool {
            (
                String(decoding: a.account, as: UTF8.self), a.type,
                String(decoding: a.other, as: UTF8.self)
            )
                < (
                    String(decoding: b.account, as: UTF8.self), b.type,
                    String(decoding: b.other, as: UTF8.self)
                )
        }
        reader.sequence(reservedUpTo: durable.sequence)
        for (_, row) in durable.accounts.sorted(by: { before($0.key, $1.key) }) {
            reader.account(name: row.name.span, value: row.value, lastSeen: row.lastSeen)
        }
        for (_, row) in durable.sessions.sorted(by: { before($0.key, $1.key) }) {
            reader.session(row)
        }
        for (_, row) in durable.statuses.sorted(by: { before($0.key, $1.key) }) {
            reader.status(row)
        }
        for (key, value) in durable.visibilities.sorted(by: { before($0.key, $1.key) }) {
            reader.visibility(account: key.account.span, value: value)
        }
        for (_, row) in durable.relations.sorted(by: { before($0.key, $1.key) }) {
            reader.relation(row)
        }
        reader.passwords(count: durable.credentials.count, secret: [])
        for card in summariesOfCards { reader.card(card) }
        for (_, row) in durable.devices.sorted(by: { before($0.key, $1.key) }) {
            reader.device(row)
        }
        for (key, row) in durable.messages.sorted(by: {
            ($0.key.id, $0.key.place) < ($1.key.id, $1.key.place)
        }) {
            var message = row
            message.sender = durable.contents[key.id]?.sender ?? []
            reader.message(message)
        }
        for (key, row) in durable.subscriptions.sorted(by: { before($0.key, $1.key) }) {
            reader.beginSubscriber(key.account.span)
            reader.subscription(
                type: key.type, publisher: key.other.span, created: row.created,
                expires: row.expires)
        }
    }
}
