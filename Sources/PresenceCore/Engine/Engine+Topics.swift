import Containers

extension Engine {
    /// The topic of `type` of `account`, if there is one.
    func topic(_ type: EventType, of account: AccountHandle) -> TopicHandle? {
        if type == .presence {
            let number = accounts[Int(account.index)].presenceTopic
            return number == none ? nil : TopicHandle(index: number)
        }
        guard !accounts[Int(account.index)].customTopics.isEmpty else { return nil }
        return topics.custom(type, of: account.index).map { TopicHandle(index: $0) }
    }

    /// The topic of `type` of `account`, created if there is none.
    mutating func makeTopic(_ type: EventType, of account: AccountHandle) -> TopicHandle {
        if let known = topic(type, of: account) { return known }
        let seq = sequence.next()
        guard type == .presence else {
            return TopicHandle(
                index: topics.makeCustom(
                    type, of: account.index, seq: seq,
                    in: &accounts[Int(account.index)].customTopics))
        }
        let number = topics.makePresence(of: account.index, seq: seq)
        accounts[Int(account.index)].presenceTopic = number
        return TopicHandle(index: number)
    }

    /// Calls `body` with each topic of an account: its presence, then those of other types.
    mutating func forEachTopic(
        of account: AccountHandle, _ body: (inout Engine, TopicHandle) -> Void
    ) {
        if let topic = topic(.presence, of: account) { body(&self, topic) }
        var next = topics.first(of: account.index, in: accounts[Int(account.index)].customTopics)
        while let number = next {
            next = topics.following(topics[number])
            body(&self, TopicHandle(index: number))
        }
    }

    /// Removes a topic that has no subscribers and no state to keep.
    mutating func releaseIfIdle(_ topic: TopicHandle) {
        let record = topics[topic.index]
        guard record.status == none, index.subscriberCount(of: topic) == 0,
            !fanOuts.isWalking(topic)
        else { return }
        if record.type == .presence {
            guard firstSession[Int(record.account)] == none else { return }
            accounts[Int(record.account)].presenceTopic = none
        }
        topics.remove(topic.index, from: &accounts[Int(record.account)].customTopics)
        retired.append(record.account)
    }

    /// The key by which custom topics and positions in fans are found.
    func key(_ type: EventType, _ account: AccountHandle) -> UInt64 {
        Topics.key(type, account.index)
    }

    /// Has the next block of numbers reserved when one is due.
    mutating func reserveSequence(into effects: inout Effects) {
        guard let end = sequence.blockToReserve(lastTicket: inFlight.lastNumber) else { return }
        effects.persist(.reserveSequence(upTo: end))
    }
}
