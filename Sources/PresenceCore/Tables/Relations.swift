import Containers

/// What an account keeps of another, besides the approved lease in the index.
struct Relation {
    /// The other.
    let contact: UInt32
    /// What the account calls it, in the form of `ContactLabel.bytes`, if it fits in a slab; longer
    /// ones are in `Relations.longLabels`.
    var label = SlabRef.none
    var flags: Flags = []

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// The other is on the account's list.
        static let isListed = Flags(rawValue: 1)
        /// The account has asked to see the other.
        static let asks = Flags(rawValue: 2)
        /// The other has asked to see the account. The mirror of its `asks`.
        static let isAsked = Flags(rawValue: 4)
        /// The other's next request is accepted at once.
        static let approvesBefore = Flags(rawValue: 8)
        /// The other sees the account. The mirror of its approved lease.
        static let isSeen = Flags(rawValue: 16)
        /// The account sees the other. Equal to its approved lease on the other's presence.
        static let sees = Flags(rawValue: 32)
    }
}

/// The relations of all accounts. Only accounts that have any use memory.
struct Relations {
    /// By account: its relations in the order of the contacts.
    private var relations = PartedDictionary<UInt32, [Relation]>()
    /// What requests say, by asker and asked; no entry for nothing.
    private var requests = PartedDictionary<UInt64, RequestContent>()
    /// Labels that do not fit in a slab, by account and contact.
    private var longLabels = PartedDictionary<UInt64, [UInt8]>()
    /// How many requests an account has to answer; no entry for none.
    private var requestCounts = PartedDictionary<UInt32, Int>()
    /// How many contacts an account has; no entry for none.
    private var contactCounts = PartedDictionary<UInt32, Int>()
    /// How many accounts have a relation to an account; no entry for none.
    private var ownerCounts = PartedDictionary<UInt32, Int>()
    /// How many relations there are, by their states, for metrics.
    private(set) var pendingCount = 0
    private(set) var activeCount = 0
    private var relationCount = 0
    /// Of requests and long labels.
    private var textBytes = 0

    /// The memory that they use, about, without labels in a slab. O(1).
    var byteCount: Int { relationCount * MemoryLayout<Relation>.stride + textBytes }

    /// Whether the account has any, or is the contact of one.
    func mention(_ account: AccountHandle) -> Bool {
        relations[account.index] != nil || ownerCounts[account.index] != nil
    }

    /// The relations of an account, in the order of the contacts.
    func all(of account: AccountHandle) -> [Relation] { relations[account.index] ?? [] }

    /// How many relations an account has.
    func count(of account: AccountHandle) -> Int { relations[account.index]?.count ?? 0 }

    /// How many contacts an account has.
    func contactCount(of account: AccountHandle) -> Int { contactCounts[account.index, default: 0] }

    /// How many requests an account has to answer.
    func requestCount(of account: AccountHandle) -> Int { requestCounts[account.index, default: 0] }

    /// How many of the requests that an account has to answer are of accounts that are none of its
    /// contacts. O(relations of the account).
    func strangersAsking(_ account: AccountHandle) -> Int {
        all(of: account).count { $0.flags.contains(.isAsked) && !$0.flags.isContact }
    }

    /// The relation of an account to another; nil if there is none. O(log n).
    func relation(of account: AccountHandle, to contact: AccountHandle) -> Relation? {
        guard let list = relations[account.index] else { return nil }
        let place = list.partitionPoint { $0.contact < contact.index }
        return place < list.count && list[place].contact == contact.index ? list[place] : nil
    }

    /// What an account has said as it asked another.
    func request(of asker: AccountHandle, to asked: AccountHandle) -> RequestContent {
        requests[Self.key(asker, asked)] ?? .none
    }

    /// What the account calls the contact, if that is too long for a slab.
    func longLabel(of account: AccountHandle, to contact: AccountHandle) -> [UInt8]? {
        longLabels.isEmpty ? nil : longLabels[Self.key(account, contact)]
    }

    /// Keeps or forgets a label that is too long for a slab.
    mutating func set(
        longLabel: [UInt8]?, of account: AccountHandle, to contact: AccountHandle
    ) {
        guard longLabel != nil || !longLabels.isEmpty else { return }
        let before = longLabels[Self.key(account, contact)]
        textBytes += (longLabel?.count ?? 0) - (before?.count ?? 0)
        longLabels[Self.key(account, contact)] = longLabel
    }

    /// Puts a relation in the place of the one before; one that says nothing is removed. O(n).
    mutating func set(_ relation: Relation, of account: AccountHandle) {
        var list = relations.removeValue(forKey: account.index) ?? []
        let place = list.partitionPoint { $0.contact < relation.contact }
        let isKnown = place < list.count && list[place].contact == relation.contact
        let before: Relation.Flags = isKnown ? list[place].flags : []
        if relation.flags.isEmpty {
            precondition(relation.label == .none, "a label of no contact")
            if isKnown {
                list.remove(at: place)
                ownerCounts.add(-1, to: relation.contact)
                relationCount -= 1
            }
        } else if isKnown {
            list[place] = relation
        } else {
            list.reserveEighth(from: 8)
            list.insert(relation, at: place)
            ownerCounts.add(1, to: relation.contact)
            relationCount += 1
        }
        if !list.isEmpty { relations[account.index] = list }
        count(account, from: before, to: relation.flags)
    }

    /// Keeps or forgets what a request says.
    mutating func set(
        request: RequestContent, of asker: AccountHandle, to asked: AccountHandle
    ) {
        textBytes += request.byteCount - self.request(of: asker, to: asked).byteCount
        requests[Self.key(asker, asked)] = request == .none ? nil : request
    }

    private mutating func count(
        _ account: AccountHandle, from before: Relation.Flags, to after: Relation.Flags
    ) {
        func change(_ flag: Relation.Flags) -> Int {
            (after.contains(flag) ? 1 : 0) - (before.contains(flag) ? 1 : 0)
        }
        pendingCount += change(.asks)
        activeCount += change(.sees)
        requestCounts.add(change(.isAsked), to: account.index)
        contactCounts.add(
            (after.isContact ? 1 : 0) - (before.isContact ? 1 : 0), to: account.index)
    }

    private static func key(_ asker: AccountHandle, _ asked: AccountHandle) -> UInt64 {
        UInt64(asker.index) << 32 | UInt64(asked.index)
    }
}

extension Dictionary where Value == Int {
    /// Changes a count; there is no entry for none.
    mutating func add(_ change: Int, to key: Key) {
        guard change != 0 else { return }
        let count = self[key, default: 0] + change
        self[key] = count > 0 ? count : nil
    }
}

extension PartedDictionary where Value == Int {
    /// Changes a count; there is no entry for none.
    mutating func add(_ change: Int, to key: Key) {
        guard change != 0 else { return }
        let count = self[key, default: 0] + change
        self[key] = count > 0 ? count : nil
    }
}

extension RequestContent {
    /// Of its texts.
    fileprivate var byteCount: Int { (text?.count ?? 0) + extra.count }
}

extension Relation.Flags {
    /// Whether the other is one of the account's contacts.
    var isContact: Bool { !isDisjoint(with: [.isListed, .asks, .sees, .isSeen]) }
}

extension Relations {
    /// Traps unless both sides of every pair agree. O(relations); for tests.
    func checkInvariants(sees: (AccountHandle, AccountHandle) -> Bool) {
        var contents = 0
        var longCount = 0
        for (number, list) in relations.entries {
            let account = AccountHandle(index: number)
            precondition(!list.isEmpty, "an empty list")
            for relation in list {
                let contact = AccountHandle(index: relation.contact)
                let flags = relation.flags
                let mirror = self.relation(of: contact, to: account)?.flags ?? []
                precondition(contact != account, "a contact of itself")
                precondition(flags.contains(.asks) == mirror.contains(.isAsked), "request")
                precondition(flags.contains(.sees) == mirror.contains(.isSeen), "approval")
                precondition(flags.contains(.sees) == sees(account, contact), "lease")
                precondition(!flags.isSuperset(of: [.asks, .sees]), "pending and active")
                precondition(
                    !flags.contains(.approvesBefore)
                        || flags.isDisjoint(with: [.isAsked, .isSeen]), "approved twice")
                if longLabel(of: account, to: contact) != nil {
                    precondition(flags.contains(.isListed) && relation.label == .none, "label")
                    longCount += 1
                }
                guard request(of: account, to: contact) != .none else { continue }
                precondition(flags.contains(.asks), "the content of no request")
                contents += 1
            }
            precondition(
                contactCount(of: account) == list.count { $0.flags.isContact }, "contact count")
            precondition(
                requestCount(of: account) == list.count { $0.flags.contains(.isAsked) },
                "request count")
        }
        var owners: [UInt32: Int] = [:]
        for relation in relations.values.joined() { owners[relation.contact, default: 0] += 1 }
        precondition(owners.count == ownerCounts.count, "owners")
        for (owner, count) in owners { precondition(ownerCounts[owner] == count, "owner counts") }
        precondition(contents == requests.count, "a content without its request")
        precondition(longCount == longLabels.count, "a label without its contact")
        let texts = requests.values.reduce(0) { $0 + $1.byteCount }
        precondition(
            texts + longLabels.values.reduce(0) { $0 + $1.count } == textBytes, "bytes of texts")
        precondition(relations.values.reduce(0) { $0 + $1.count } == relationCount, "relations")
        let all = relations.values.joined()
        precondition(pendingCount == all.count { $0.flags.contains(.asks) }, "pending count")
        precondition(activeCount == all.count { $0.flags.contains(.sees) }, "active count")
    }
}
