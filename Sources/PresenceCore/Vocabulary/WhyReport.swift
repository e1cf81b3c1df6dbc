// The report of `why`: facts from which sentences can be made, and how far back they reach.

/// How a connection ended.
public enum ConnectionEnd: UInt8, CaseIterable, Sendable {
    case logout, kicked, replaced
    /// No bytes arrived for one and a half heartbeats.
    case silent
    /// The peer or the network ended it.
    case lost
    /// It did not read what it was sent.
    case tooSlow
    /// It sent something that is not a frame.
    case violation
}

/// Why a subscriber sees, or does not see, a publisher. Texts are in `Effects.bytes`.
public struct WhyReport: Hashable, Sendable {
    /// The service's clock.
    public var time: Wall
    /// The type of state.
    public var type: EventType
    /// The subscriber, in fact or supposedly.
    public var subscriber: WhyParty
    /// The publisher, in fact or supposedly.
    public var publisher: WhyParty
    /// The subscription in force, if there is one; that is, its timed lease.
    public var subscription: WhySubscription?
    /// Whether the publisher has accepted the subscriber, or was asked; for presence only.
    public var relation: RelationState
    /// Which of its subscribers see the publisher.
    public var visibility: Visibility
    /// Subscriptions that have ended, newest first.
    public var ended: [WhySubscription]
    /// The publisher's state: an index of `Effects.events`.
    public var state: Int
    /// The publisher's last events, newest first.
    public var events: [WhyEvent]
    /// The last messages between the two, newest first; nil: there are no messages.
    public var messages: [WhyMessage]?
    /// Since when each kind of entry is complete.
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
    /// All messages.
    public var messages: Wall
}

/// One of the two accounts.
public struct WhyParty: Hashable, Sendable {
    /// Whether the service knows the name now: a forgotten account may have been known.
    public var isKnown: Bool
    /// Sessions, connected or not, in order of login; those that others do not see come last.
    public var sessions: [WhySession]
    /// Connections that have ended, newest first.
    public var ended: [WhyConnection]
}

/// A current session.
public struct WhySession: Hashable, Sendable {
    /// Its entry in a listing.
    public var entry: SessionEntry
    /// Whether its login list is still being sent.
    public var isListing: Bool
    /// Whether it sees the publisher; nil for a session that has no connection or is hidden, and
    /// for the publisher's own.
    public var isSeeing: Bool?
    /// Topics whose newest states are still to be sent to it.
    public var behind: Int
    /// Bytes in its outbox; filled in by the owner of the connections. Nil if that is not known.
    public var bytesWaiting: Int? = 0
}

/// A connection that has ended.
public struct WhyConnection: Hashable, Sendable {
    /// Its session.
    public var session: SessionID
    /// Its device.
    public var device: ByteRange
    /// The kind of its client.
    public var client: ClientKind
    /// When it logged in.
    public var since: Wall
    /// When bytes of it last arrived; of one that the service closed for another reason than
    /// silence, slowness or a violation, when it ended.
    public var lastHeard: Wall
    /// When it ended.
    public var ended: Wall
    /// How it ended.
    public var end: ConnectionEnd
    /// Bytes that it was sent and had not read.
    public var unsentBytes: Int
}

/// A subscription, in force or not.
public struct WhySubscription: Hashable, Sendable {
    /// When it was created.
    public var created: Wall
    /// When it expires, or ended.
    public var until: Wall
    /// How it ended; nil if it has not.
    public var end: End?

    /// How a subscription ended.
    public enum End: UInt8, CaseIterable, Sendable {
        case expired
        /// The subscriber unsubscribed.
        case byAccount
        /// An app server unsubscribed on behalf of the subscriber.
        case byAppServer
    }
}

/// An event of the publisher, and its fate on the subscriber's connections.
public struct WhyEvent: Hashable, Sendable {
    /// Its number.
    public var seq: UInt64
    /// When it happened.
    public var time: Wall
    /// Its cause.
    public var cause: Cause
    /// Its value.
    public var value: Int32
    /// The number of connections that it was sent to, of all accounts.
    public var receivers: Int
    /// Whether the subscriber was subscribed when it happened.
    public var subscribed: Known
    /// The subscriber's connections of that time, and the fate of the event on each.
    public var fates: [WhyFate]
    /// Whether all of these are known.
    public var isComplete: Bool
    /// The next login, if there was no connection: its list included what had happened.
    public var nextLogin: WhyLogin?

    /// What the history says.
    public enum Known: UInt8, CaseIterable, Sendable {
        case no, yes
        /// It does not reach back far enough.
        case unknown
    }
}

/// The first login after an event for which the subscriber had no connection.
public struct WhyLogin: Hashable, Sendable {
    /// Its session.
    public var session: SessionID
    /// Its device.
    public var device: ByteRange
    /// When.
    public var time: Wall
    /// The kind of its login list.
    public var list: LoginList
}

/// The fate of an event on one connection.
public struct WhyFate: Hashable, Sendable {
    /// Its session.
    public var session: SessionID
    /// Its device.
    public var device: ByteRange
    /// The fate.
    public var what: What
    /// The time of the fate, if it has a time of its own.
    public var time: Wall?

    /// The fate of an event.
    public enum What: UInt8, CaseIterable, Sendable {
        /// It was sent to the connection.
        case sent
        /// The login list was being sent: it included what had happened, or the event was sent,
        /// too.
        case listed
        /// The connection was behind; the newest state followed, at `time`.
        case conflated
        /// The connection is behind; the newest state will follow.
        case waiting
        /// The connection was behind, and ended at `time` before the newest state was sent.
        case dropped
        /// It was handed to a connection from which nothing arrived afterwards and that ended at
        /// `time`.
        case uncertain
        /// It was dropped for a newer one of the same publisher before its turn.
        case replaced
        /// It is part of a large fan-out in progress.
        case inProgress
    }
}

/// A message between the two accounts, and what became of it. It has no text.
public struct WhyMessage: Hashable, Sendable {
    /// The message.
    public var id: MessageID
    /// Who wrote it. The other of the two is the recipient.
    public var writer: Writer
    /// When it was requested.
    public var time: Wall
    /// What became of it.
    public var fate: Fate
    /// The device that has taken it; nil: none has.
    public var device: ByteRange?
    /// When it was taken, expired or discarded; nil if it was not.
    public var ended: Wall?
    /// How often it was handed to a session since startup.
    public var sentCount: Int
    /// Why it was handed over to app servers as undelivered; nil: it was not.
    public var handedOver: UndeliveredReason?

    /// Who wrote a message.
    public enum Writer: UInt8, CaseIterable, Sendable {
        case subscriber, publisher
        /// An app server that named no account; the recipient is both accounts.
        case service
    }

    /// What became of a message.
    public enum Fate: UInt8, CaseIterable, Sendable {
        case waiting, taken, expired
        /// An app server has discarded it.
        case discarded
        /// Its content was missing in the store.
        case lost
    }
}
