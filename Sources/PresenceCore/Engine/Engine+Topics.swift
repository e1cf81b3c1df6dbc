import Containers

extension Engine {
    /// The topic of `type` of `account`, if there is one.
    func topic(_ type: EventType, of account: AccountHandle) -> TopicHandle? {
        if type == .presence {
            let number = accounts[Int(account.index)].presenceTopic
            return number == none ? nil : TopicHandle(index: number)
        }
        guard accounts[Int(account.index)].customTopicCount > 0 else { return nil }
        return customTopics[key(type, account)].map { TopicHandle(index: $0) }
    }

    /// The topic of `type` of `account`, created if there is none.
    mutating func makeTopic(_ type: EventType, of account: AccountHandle) -> TopicHandle {
        if let known = topic(type, of: account) { return known }
        let number = topics.insert(
            Topic(seq: sequence.next(), account: account.index, type: type))
        if type == .presence {
            accounts[Int(account.index)].presenceTopic = number
        } else {
            customTopics[key(type, account)] = number
            accounts[Int(account.index)].customTopicCount += 1
        }
        return TopicHandle(index: number)
    }

    /// Removes a topic that has no subscribers and no state to keep.
    mutating func releaseIfIdle(_ topic: TopicHandle) {
        let record = topics[topic.index]
        guard record.status == none, index.subscriberCount(of: topic) == 0,
            !fanOuts.isWalking(topic)
        else { return }
        let account = AccountHandle(index: record.account)
        if record.type == .presence {
            guard firstSession[Int(record.account)] == none else { return }
            accounts[Int(record.account)].presenceTopic = none
        } else {
            customTopics[key(record.type, account)] = nil
            accounts[Int(record.account)].customTopicCount -= 1
        }
        topics.remove(topic.index)
        retired.append(record.account)
    }

    /// The key by which custom topics and positions in fans are found.
    func key(_ type: EventType, _ account: AccountHandle) -> UInt64 {
        UInt64(account.index) << 16 | UInt64(type.number)
    }

    /// Has the next block of numbers reserved when one is due.
    mutating func reserveSequence(into effects: inout Effects) {
        guard let end = sequence.blockToReserve() else { return }
        effects.persist(.reserveSequence(upTo: end))
    }
}
