// Recent history, for `why` and `top`.
//
// There are six rings, each with its own bound: events, beginnings and ends of subscriptions,
// ended connections, times in which a connection was behind, messages, forgotten accounts.
// Deliveries of events are not recorded. The receivers of an event are derived on request: it was
// sent to every session of the subscriber that was connected then, unless its login list was still
// being sent (which includes what has happened), or it was behind (its newest state followed).
// Before and after are determined by the service's one counter, of which every event, login and
// entry has a number.
//
// Accounts are recorded by their handles. A handle is reused when an account is forgotten, so each
// entry also has the last ten bits of how often that has happened: an account without references is
// forgotten together with its history. That it was is recorded by its name, so that a report does
// not take what is missing for what has not happened.

import Containers

/// The size of the history for `why` and `top`; a ring uses memory only as it fills.
public struct HistoryLimits: Hashable, Sendable {
    /// Events: 32 bytes each.
    public var eventsMax = 131_072
    /// Beginnings (one per request) and ends of subscriptions: 40 bytes each.
    public var subscriptionsMax = 65_536
    /// Connections that have ended: 72 bytes each, and their devices' names.
    public var connectionsMax = 16_384
    /// Times in which a connection was behind: 40 bytes each.
    public var delaysMax = 8_192
    /// Messages, each once for each recipient: 56 bytes each, and names of devices.
    public var messagesMax = 16_384
    /// Accounts that were forgotten, and had entries: 24 bytes each.
    public var forgottenMax = 32_768

    /// The defaults: some 12 MiB when all are full.
    public init() {}
}

/// Recent history. See the top of `History.swift`.
struct History: ~Copyable {
    /// When the history begins, if nothing has been overwritten yet.
    let begun: Wall
    var events: Ring<EventNote>
    var subscriptions: Ring<SubscriptionNote>
    var connections: Ring<ConnectionNote>
    var delays: Ring<DelayNote>
    var messages: Ring<MessageNote>
    var forgotten: Ring<ForgottenNote>
    /// Names of devices: of connections that have ended, and of those that have taken messages.
    var devices = ByteSlab()

    init(_ limits: HistoryLimits, at now: Wall) {
        begun = now
        events = Ring(countMax: limits.eventsMax)
        subscriptions = Ring(countMax: limits.subscriptionsMax)
        connections = Ring(countMax: limits.connectionsMax)
        delays = Ring(countMax: limits.delaysMax)
        messages = Ring(countMax: limits.messagesMax)
        forgotten = Ring(countMax: limits.forgottenMax)
    }

    /// The memory of all rings, in bytes.
    var bytesReserved: Int {
        events.bytesReserved + subscriptions.bytesReserved + connections.bytesReserved
            + delays.bytesReserved + messages.bytesReserved + forgotten.bytesReserved
            + devices.bytesReserved
    }
}

/// An account in the history: its handle, and which of the accounts with that handle it is.
struct HistoryAccount: Hashable {
    var number: UInt32
    var generation: UInt16
}
