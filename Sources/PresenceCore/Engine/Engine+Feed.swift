// The feed: every change of state, in one order, for those who keep a table of their own.
//
// While it is on, every event goes into the effects, watched or not, and is followed by
// `Effect.feed`. So does a state that changes without an event (a device that only push reaches):
// the table is to be right, not only those who watch. `seq` is the order.
//
// A reader begins with the states in force, walked in the order of the topics, as login lists
// are. Whoever keeps the feed tells it the changes of topics that have been passed, and leaves
// out those of topics that are still to come.

import Containers

/// Whether every event is told to whoever keeps the feed.
public enum FeedSwitch: Sendable {
    case off, on
}

extension Engine {
    /// Switches the feed on or off. Restore with the feed on to have statuses that ran out while
    /// the service was down end as events.
    public mutating func setFeed(_ feed: FeedSwitch) {
        self.feed = feed
    }

    /// The number given out last: no event has a higher one.
    public var lastSeq: UInt64 { sequence.last }

    /// Appends to `effects.events` the states in force of topics from `topic` on: of those who are
    /// online, and of those with a status. Tells where to go on, or nil at the end.
    ///
    /// Looks at `topicsMax` topics at most and appends `statesMax` states at most.
    public mutating func appendStatesInForce(
        from topic: UInt32, topicsMax: Int, statesMax: Int, at now: Moment,
        into effects: inout Effects
    ) -> UInt32? {
        sweep()
        let end = topics.elements.count
        let last = min(end, Int(topic) + topicsMax)
        var statesLeft = statesMax
        for number in min(Int(topic), end)..<last where isInForce(UInt32(number)) {
            guard statesLeft > 0 else { return UInt32(number) }
            statesLeft -= 1
            appendState(TopicHandle(index: UInt32(number)), at: now, into: &effects)
        }
        return last == end ? nil : UInt32(last)
    }

    /// Whether a topic has something to tell that is not what is taken for granted.
    private func isInForce(_ number: UInt32) -> Bool {
        let record = topics[number]
        let isOnline =
            record.type == .presence && firstSession[Int(record.account)] != none
        guard isOnline || record.status != none else { return false }
        // The place of a topic that was let go still holds what was there.
        return topic(record.type, of: AccountHandle(index: record.account))?.index == number
    }
}

extension Effects {
    /// Has the last event added to the feed.
    mutating func feedLast(_ topic: TopicHandle) {
        items.append(.feed(event: events.count - 1, topic: topic))
    }
}
