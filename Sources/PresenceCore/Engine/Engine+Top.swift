// `top`: who has made the most of what happened lately.

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
    /// busiest first. O(events of that time), as many as the history holds at most.
    public func busiestPublishers(
        since begin: Wall, countMax: Int, into effects: inout Effects
    ) -> [BusyPublisher] {
        var sums: [UInt64: (events: Int, deliveries: Int)] = [:]
        for place in history.events.places.reversed() {
            let note = history.events[place]
            // By the wall clock, which may have been set back: what is older does not follow.
            guard note.time >= begin else { break }
            let key = UInt64(note.account.number) << 16 | UInt64(note.account.tenant)
            let sum = sums[key] ?? (0, 0)
            sums[key] = (sum.events + 1, sum.deliveries + note.receivers)
        }
        let busiest = sums.sorted { first, second in
            (first.value.deliveries, first.value.events, second.key)
                > (second.value.deliveries, second.value.events, first.key)
        }
        var publishers: [BusyPublisher] = []
        for (key, sum) in busiest where publishers.count < countMax {
            let account = NotedAccount(
                number: UInt32(key >> 16), tenant: UInt16(key & 0xFFFF))
            // Of somebody who has been forgotten meanwhile nobody knows the name.
            guard names.contains(account.number), noted(account.number) == account else {
                continue
            }
            publishers.append(
                BusyPublisher(
                    account: effects.copyName(of: account.number, from: self),
                    events: sum.events, deliveries: sum.deliveries))
        }
        return publishers
    }

    /// Since when all events are known.
    public var eventsKnownSince: Wall { history.eventsSince }

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
