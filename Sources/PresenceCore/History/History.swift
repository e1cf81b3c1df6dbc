// What happened lately, for `why` and `top`.
//
// Four rings, each with a bound of its own: events, subscriptions that began or ended,
// connections that ended, times in which a connection was behind with reading. Nothing is noted
// for a delivery. To whom an event went is found out when somebody asks: it went to every session
// of the subscriber that was connected then, unless its login list was still being sent (which
// holds what has happened), or it was behind (its newest state followed). What tells before from
// after is the service's one counter, of which events, logins and notes each hold a number.
//
// Accounts stand here by their numbers. A number is given out again when an account is forgotten,
// so each note holds the last ten bits of how often that has happened, too: an account that
// nothing refers to any more is forgotten together with its history.

import Containers

/// How much is remembered for `why` and `top`; a ring takes its memory only as it fills.
public struct HistoryLimits: Hashable, Sendable {
    /// Events: 32 bytes each.
    public var eventsMax = 131_072
    /// Beginnings (one a request) and ends of subscriptions: 40 bytes each.
    public var subscriptionsMax = 65_536
    /// Connections that have ended: 72 bytes each, and their devices' names.
    public var connectionsMax = 16_384
    /// Times in which a connection was behind: 40 bytes each.
    public var delaysMax = 8_192

    /// The defaults: some 9 MiB when all are full.
    public init() {}
}

/// What happened lately. See the top of `History.swift`.
struct History: ~Copyable {
    /// When the history begins, where nothing has been overwritten yet.
    let begun: Wall
    var events: Ring<EventNote>
    var subscriptions: Ring<SubscriptionNote>
    var connections: Ring<ConnectionNote>
    var delays: Ring<DelayNote>
    /// Names of devices of connections that have ended.
    var devices = ByteSlab()

    init(_ limits: HistoryLimits, at now: Wall) {
        begun = now
        events = Ring(countMax: limits.eventsMax)
        subscriptions = Ring(countMax: limits.subscriptionsMax)
        connections = Ring(countMax: limits.connectionsMax)
        delays = Ring(countMax: limits.delaysMax)
    }

    /// Bytes that everything takes.
    var bytesReserved: Int {
        events.bytesReserved + subscriptions.bytesReserved + connections.bytesReserved
            + delays.bytesReserved + devices.bytesReserved
    }
}

/// An account in the history: its number, and which of those who had that number it is.
struct NotedAccount: Equatable {
    var number: UInt32
    var tenant: UInt16
}
