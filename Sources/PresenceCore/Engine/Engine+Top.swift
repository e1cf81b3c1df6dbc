// `top`: the publishers that have caused the most of what happened lately.

import Containers

/// What a publisher has caused in a while; the name stands in `Effects.bytes`.
public struct BusyPublisher: Hashable, Sendable {
    /// Who.
    public var account: ByteRange
    /// Events.
    public var events: Int
    /// Connections that these were handed to.
    public var deliveries: Int
}

extension Engine {
    /// The publishers with the most deliveries, and among equals events, since `begin`, the
    /// busiest first. O(events of that time), as many as the history holds at most: 1.5 ms.
    public func busiestPublishers(
        since begin: Wall, countMax: Int, into effects: inout Effects
    ) -> [BusyPublisher] {
        var sums = PublisherSums(countMax: history.events.places.count)
        history.events.forEachNewestFirst { note in
            // By the wall clock, which may have been set back: what is older does not follow.
            guard note.time >= begin else { return .stop }
            sums.add(note.account, deliveries: note.receivers)
            return .on
        }
        // The name of an account that has been forgotten meanwhile is not known.
        let busiest = sums.sums.greatest(
            countMax,
            where: {
                names.contains($0.account.number) && noted($0.account.number) == $0.account
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

    /// Whose session a connection is; nil: nobody's, or an app server's.
    public func owner(of connection: ConnectionID) -> AccountHandle? {
        guard case .client(_, let account) = caller(of: connection) else { return nil }
        return account
    }

    /// Whose session a connection is and on which device, in `Effects.bytes`; nil: nobody's.
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
