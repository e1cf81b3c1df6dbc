// What `why` tells: facts from which a sentence can be made, and how far back they reach.

/// How a connection ended.
public enum ConnectionEnd: UInt8, CaseIterable, Sendable {
    case logout, kicked, replaced
    /// Nothing was heard for one and a half heartbeats.
    case silent
    /// The peer has ended it, or the network.
    case lost
    /// It did not take what it was sent.
    case tooSlow
    /// What it sent was no frame.
    case violation
}

/// Why a subscriber sees, or does not see, a publisher. Texts stand in `Effects.bytes`.
public struct WhyReport: Hashable, Sendable {
    /// What the service's clock shows.
    public var time: Wall
    /// Of what type of state it tells.
    public var type: EventType
    /// Who watches, or is thought to.
    public var subscriber: WhyParty
    /// Who is watched, or thought to be.
    public var publisher: WhyParty
    /// The subscription in force, if there is one.
    public var subscription: WhySubscription?
    /// Those that have ended, the last first.
    public var ended: [WhySubscription]
    /// The publisher's state: a place in `Effects.events`.
    public var state: Int
    /// The publisher's last events, the last first.
    public var events: [WhyEvent]
    /// Since when everything of each kind is known.
    public var reach: WhyReach
}

/// Since when the history is complete.
public struct WhyReach: Hashable, Sendable {
    /// All events.
    public var events: Wall
    /// All beginnings and ends of subscriptions.
    public var subscriptions: Wall
    /// All ends of connections.
    public var connections: Wall
    /// All times in which connections were behind.
    public var delays: Wall
}

/// One of the two accounts.
public struct WhyParty: Hashable, Sendable {
    /// Whether the service knows the name now: who was forgotten may have been known.
    public var isKnown: Bool
    /// Sessions, connected or not, in the order of their logins.
    public var sessions: [WhySession]
    /// Connections that have ended, the last first.
    public var ended: [WhyConnection]
}

/// A session of now.
public struct WhySession: Hashable, Sendable {
    /// What a listing tells of it.
    public var entry: SessionEntry
    /// Its connection, if it has one.
    public var connection: ConnectionID?
    /// Whether its login list is still being sent.
    public var isListing: Bool
    /// Bytes that wait for it; filled in by whoever owns the connections.
    public var bytesWaiting = 0
    /// Publishers whose newest states it has still to be sent; filled in likewise.
    public var behind = 0
}

/// A connection that has ended.
public struct WhyConnection: Hashable, Sendable {
    /// Which login it was.
    public var session: SessionID
    /// On which device.
    public var device: ByteRange
    /// What it ran in.
    public var client: ClientKind
    /// When it logged in.
    public var since: Wall
    /// When it was last heard.
    public var lastHeard: Wall
    /// When it ended.
    public var ended: Wall
    /// How.
    public var end: ConnectionEnd
    /// Bytes that it had been sent and not taken.
    public var unsentBytes: Int
}

/// A subscription, in force or not.
public struct WhySubscription: Hashable, Sendable {
    /// When it was asked for.
    public var created: Wall
    /// When it runs out, or ended.
    public var until: Wall
    /// How it ended; nil: it has not.
    public var end: End?

    /// How a subscription ended.
    public enum End: UInt8, CaseIterable, Sendable {
        case expired
        /// The subscriber has unsubscribed.
        case byAccount
        /// An app server has, for the subscriber.
        case byAppServer
    }
}

/// An event of the publisher, and to which of the subscriber's connections it went.
public struct WhyEvent: Hashable, Sendable {
    /// Its number.
    public var seq: UInt64
    /// When it happened.
    public var time: Wall
    /// Why.
    public var cause: Cause
    /// What happened.
    public var value: Int32
    /// How many connections it was handed to, of whomever.
    public var receivers: Int
    /// Whether the subscriber was subscribed when it happened.
    public var subscribed: Known
    /// The subscriber's connections of that time, and what became of the event there.
    public var fates: [WhyFate]
    /// Whether all of these are known.
    public var isComplete: Bool
    /// The first login since, where there was no connection: its list tells what had happened.
    public var nextLogin: WhyLogin?

    /// What the history has to say.
    public enum Known: UInt8, CaseIterable, Sendable {
        case no, yes
        /// It does not reach back far enough.
        case unknown
    }
}

/// A login after an event that nobody was there for.
public struct WhyLogin: Hashable, Sendable {
    /// Which login.
    public var session: SessionID
    /// On which device.
    public var device: ByteRange
    /// When.
    public var time: Wall
    /// What its login list holds.
    public var list: LoginList
}

/// What became of an event at one connection.
public struct WhyFate: Hashable, Sendable {
    /// Which login.
    public var session: SessionID
    /// On which device.
    public var device: ByteRange
    /// What became of it.
    public var what: What
    /// When that was, where it has a time of its own.
    public var time: Wall?

    /// What becomes of an event.
    public enum What: UInt8, CaseIterable, Sendable {
        /// It was handed to the connection, which took it.
        case sent
        /// The login list was being sent: it told what had happened, or the event went there, too.
        case listed
        /// The connection was behind; the newest state followed, at `time`.
        case conflated
        /// The connection is behind; the newest state will follow.
        case waiting
        /// The connection was behind, and ended at `time` before the newest state was sent.
        case dropped
        /// It was handed to a connection that was not heard again and ended at `time`.
        case uncertain
        /// A newer one of the same publisher took its place before its turn came.
        case gaveWay
        /// So many watch the publisher that it is still on its way to them.
        case underWay
    }
}
