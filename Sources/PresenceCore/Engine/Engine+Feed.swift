// The feed: every change of state, in one order, for feed readers, which keep their own table.
//
// While it is on, every event is in the effects, subscribed to or not, and is followed by
// `Effect.feed`. So is a state that changes without an event (a device that becomes push-only),
// because the table must be correct, too. `seq` is the order.
//
// A reader starts with the states in force, walked in the order of the topics, as login lists are.
// The owner of the feed sends it the changes of the topics that its `ListCursor` covers.

import Containers

/// Whether every event is passed to the owner of the feed.
public enum FeedSwitch: Sendable {
    case off, on
}

extension Engine {
    /// Switches the feed on or off. Restore with the feed on to have statuses that expired while
    /// the service was down end as events.
    public mutating func setFeed(_ feed: FeedSwitch) {
        self.feed = feed
    }

    /// The last number that was assigned: no event has a higher one.
    public var lastSeq: UInt64 { sequence.last }

    /// Continues the snapshot of a feed reader: requests that it is sent the states in force of the
    /// next topics, of accounts that are online and of those with a status.
    ///
    /// Visits at most `topicsMax` topics and sends at most `statesMax` states.
    public mutating func continueSnapshot(
        _ cursor: inout ListCursor, for connection: ConnectionID, topicsMax: Int, statesMax: Int,
        at now: Moment, into effects: inout Effects
    ) {
        sequence.note(now.mono)
        forgetRetired(after: effects)
        let start = effects.events.count
        let next = appendStatesInForce(
            from: cursor.next, topicsMax: topicsMax, statesMax: statesMax, at: now, into: &effects)
        cursor.advance(to: next)
        let states = start..<effects.events.count
        if !states.isEmpty { effects.items.append(.states(connection, states, .feedList)) }
    }

    /// Appends states; returns where to continue, or nil at the end.
    private mutating func appendStatesInForce(
        from topic: UInt32, topicsMax: Int, statesMax: Int, at now: Moment,
        into effects: inout Effects
    ) -> UInt32? {
        let end = topics.upperBound
        let last = min(end, Int(topic) + topicsMax)
        var statesLeft = statesMax
        for number in min(Int(topic), end)..<last where isInForce(UInt32(number)) {
            guard statesLeft > 0 else { return UInt32(number) }
            statesLeft -= 1
            appendState(TopicHandle(index: UInt32(number)), at: now, into: &effects)
        }
        return last == end ? nil : UInt32(last)
    }

    /// Whether a topic has a state other than the default, offline without a status.
    private func isInForce(_ number: UInt32) -> Bool {
        let record = topics[number]
        let isOnline =
            record.type == .presence && firstSession[Int(record.account)] != none
        guard isOnline || record.status != none else { return false }
        // The slot of a removed topic still has its old content.
        return topic(record.type, of: AccountHandle(index: record.account))?.index == number
    }
}

extension Effects {
    /// Appends the last event to the feed.
    mutating func feedLast(_ topic: TopicHandle) {
        items.append(.feed(event: events.count - 1, topic: topic))
    }
}
