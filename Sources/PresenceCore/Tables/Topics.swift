import Containers

/// The topics of all accounts, by account and type, and those of an account one after the other.
///
/// The topics of an account are chained by their types, so what concerns an account costs as much
/// as it has topics, whatever their types are; and a chain takes no memory of its own.
struct Topics {
    /// By handle.
    private var records = Slab<Topic>()
    /// Topics of types other than presence, by account and type.
    private var custom = PartedDictionary<UInt64, UInt32>()

    /// The type that is none: no event has it.
    static let noType: UInt16 = 0

    /// All handles, past and present, are below this.
    var upperBound: Int { records.elements.count }

    subscript(number: UInt32) -> Topic {
        get { records[number] }
        _modify { yield &records[number] }
    }

    /// The topic of a type other than presence. O(1).
    func custom(_ type: EventType, of account: UInt32) -> UInt32? {
        custom[Self.key(type, account)]
    }

    /// Makes a topic of presence. O(1).
    mutating func makePresence(of account: UInt32, seq: UInt64) -> UInt32 {
        records.insert(Topic(seq: seq, account: account, type: .presence))
    }

    /// Makes a topic of another type, which the account does not have, the first of its chain.
    /// O(1).
    mutating func makeCustom(
        _ type: EventType, of account: UInt32, seq: UInt64, in chain: inout TopicChain
    ) -> UInt32 {
        precondition(type.number != Self.noType, "a topic of no type")
        var topic = Topic(seq: seq, account: account, type: type)
        topic.nextType = chain.firstType
        if let next = following(topic) { records[next].previousType = type.number }
        let number = records.insert(topic)
        let before = custom.updateValue(number, forKey: Self.key(type, account))
        precondition(before == nil, "two topics of a type")
        chain.firstType = type.number
        chain.count += 1
        return number
    }

    /// Removes a topic. O(1).
    mutating func remove(_ number: UInt32, from chain: inout TopicChain) {
        let topic = records[number]
        if topic.type != .presence {
            if let next = following(topic) { records[next].previousType = topic.previousType }
            if topic.previousType == Self.noType {
                chain.firstType = topic.nextType
            } else if let previous = custom[topic.account, topic.previousType] {
                records[previous].nextType = topic.nextType
            }
            chain.count -= 1
            custom[Self.key(topic.type, topic.account)] = nil
        }
        records.remove(number)
    }

    /// The first of an account's topics of types other than presence; nil: it has none. O(1).
    func first(of account: UInt32, in chain: TopicChain) -> UInt32? {
        chain.isEmpty ? nil : custom[account, chain.firstType]
    }

    /// The topic that follows in the chain of its account. O(1).
    func following(_ topic: Topic) -> UInt32? {
        topic.nextType == Self.noType ? nil : custom[topic.account, topic.nextType]
    }

    /// The key by which custom topics and positions in fans are found.
    static func key(_ type: EventType, _ account: UInt32) -> UInt64 {
        UInt64(account) << 16 | UInt64(type.number)
    }
}

/// Where the chain of an account's topics of types other than presence begins.
struct TopicChain: Equatable {
    fileprivate(set) var firstType = Topics.noType
    fileprivate(set) var count: UInt16 = 0

    /// Whether the account has none.
    var isEmpty: Bool { firstType == Topics.noType }
}

extension PartedDictionary<UInt64, UInt32> {
    /// The topic of an account with a type that its chain names.
    fileprivate subscript(account: UInt32, type: UInt16) -> UInt32? {
        guard let topic = self[Topics.key(EventType(number: type), account)] else {
            preconditionFailure("a chain with a topic that is not here")
        }
        return topic
    }
}

extension Topics {
    /// Traps unless the chain of an account has its topics, each once. Returns how many.
    func checkChain(_ chain: TopicChain, of account: UInt32) -> Int {
        var count = 0
        var before = Self.noType
        var next = first(of: account, in: chain)
        while let number = next {
            let topic = records[number]
            precondition(topic.account == account, "a topic in the chain of another account")
            precondition(topic.previousType == before, "a chain that is broken")
            precondition(count < chain.count, "a chain without an end")
            before = topic.type.number
            count += 1
            next = following(topic)
        }
        precondition(count == chain.count, "a chain miscounted")
        return count
    }

    /// How many topics have types other than presence.
    var customCount: Int { custom.count }
}
