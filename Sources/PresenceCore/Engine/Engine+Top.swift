// `top`: the publishers that have caused the most events and deliveries recently, and the accounts
// of which and for which most waits.

import Containers

/// What a publisher has caused in a period; its name is in `Effects.bytes`.
public struct BusyPublisher: Hashable, Sendable {
    /// The publisher.
    public var account: ByteRange
    /// Events.
    public var events: Int
    /// Connections that these were sent to.
    public var deliveries: Int
}

/// How much waits of an account, or for it; its name is in `Effects.bytes`.
public struct WaitingAmount: Hashable, Sendable {
    /// The account.
    public var account: ByteRange
    /// Messages, each once for each recipient.
    public var messages: Int
    /// What they count for in the limits on bytes.
    public var bytes: Int
}

extension Engine {
    /// The accounts of which most bytes of messages wait, the greatest first. O(senders): 20 ms for
    /// a million.
    public func greatestSenders(
        countMax: Int, into effects: inout Effects
    ) -> [WaitingAmount] {
        waitingAmounts(inboxes.greatestSenders(countMax), into: &effects)
    }

    /// The accounts for which most bytes of messages wait, the greatest first. O(boxes): 20 ms for
    /// a million.
    public func fullestBoxes(countMax: Int, into effects: inout Effects) -> [WaitingAmount] {
        waitingAmounts(inboxes.fullest(countMax), into: &effects)
    }

    private func waitingAmounts(
        _ amounts: [(account: UInt32, amount: MessageAmount)], into effects: inout Effects
    ) -> [WaitingAmount] {
        amounts.filter { $0.amount.count > 0 }.map { account, amount in
            WaitingAmount(
                account: effects.copyName(of: account, from: self), messages: amount.count,
                bytes: amount.byteCount)
        }
    }

    /// The publishers with the most deliveries, and among equals events, since `begin`, the
    /// busiest first. O(events of that time), as many as the history holds at most: 1.5 ms.
    public func busiestPublishers(
        since begin: Wall, countMax: Int, into effects: inout Effects
    ) -> [BusyPublisher] {
        var sums = PublisherSums(countMax: history.events.places.count)
        history.events.forEachNewestFirst { note in
            // By the wall clock, which may have been set back: an older event may still follow.
            guard note.time >= begin else { return .stop }
            sums.add(note.account, deliveries: note.receivers)
            return .on
        }
        // The name of an account that was forgotten meanwhile is not known.
        let busiest = sums.sums.greatest(
            countMax,
            where: {
                names.contains($0.account.number) && historyAccount($0.account.number) == $0.account
            },
            by: { ($0.deliveries, $0.events) < ($1.deliveries, $1.events) })
        return busiest.map { sum in
            BusyPublisher(
                account: effects.copyName(of: sum.account.number, from: self),
                events: Int(sum.events), deliveries: Int(sum.deliveries))
        }
    }

    /// Since when all events are known.
    public var eventsKnownSince: Wall { history.eventsSince }

    /// The account of a connection's session; nil if there is none, or it is an app server's.
    public func owner(of connection: ConnectionID) -> AccountHandle? {
        guard case .client(_, let account) = caller(of: connection) else { return nil }
        return account
    }

    /// The account and device of a connection's session, in `Effects.bytes`; nil if there is none.
    public func owner(
        of connection: ConnectionID, into effects: inout Effects
    ) -> (account: ByteRange, device: ByteRange)? {
        guard case .client(let session, let account) = caller(of: connection) else { return nil }
        return (
            effects.copyName(of: account.index, from: self),
            deviceEntry(of: session, into: &effects).name
        )
    }
}
