// What no device has taken in time is handed over to the app server, which pushes it.

/// Why a message counts as undelivered.
public enum UndeliveredReason: UInt8, CaseIterable, Sendable {
    /// When it was requested, the account had no session that could be sent it.
    case absent = 1
    /// No device has taken it within `pushAfterSeconds`, or before the end of the restart grace.
    case untaken = 2
}

/// That a message counts as undelivered, from now on until it is taken, discarded or expires.
///
/// A message is handed over once, whether it is read or not.
public struct HandOver: Hashable, Sendable {
    /// Its place among all that were handed over, unique over the life of the database.
    public var number: UInt64
    /// Why.
    public var reason: UndeliveredReason

    /// A hand-over.
    public init(number: UInt64, reason: UndeliveredReason) {
        self.number = number
        self.reason = reason
    }
}

/// The hand-over of a message for one recipient, as it is stored.
public struct HandOverRecord: Hashable, Sendable {
    /// The message and its recipient.
    public var key: WaitingKey
    /// When among all others, and why.
    public var handOver: HandOver
}

/// A message that is undelivered.
public struct UndeliveredMessage: Hashable, Sendable {
    /// The message, and the place of its recipient.
    public var key: WaitingKey
    /// Its recipient.
    public var account: AccountHandle
    /// When among all others, and why.
    public var handOver: HandOver
    /// Until when it waits.
    public var expires: Mono

    /// The message.
    public var message: MessageID { key.message }
}

/// A device that a push may reach.
public struct PushDevice: Hashable, Sendable {
    /// Its name.
    public var name: [UInt8]
    /// The kind of its client; nil: it has no session.
    public var client: ClientKind?
    /// Whether push reaches it without a connection.
    public var reach: Reach
    /// What is known of it.
    public var labels: DeviceLabels

    /// A device.
    public init(
        name: [UInt8], client: ClientKind? = nil, reach: Reach, labels: DeviceLabels
    ) {
        self.name = name
        self.client = client
        self.reach = reach
        self.labels = labels
    }
}

/// A part of what is undelivered, in the order of the hand-overs.
public struct UndeliveredShare: Hashable, Sendable {
    /// The messages.
    public var messages: [UndeliveredMessage]
    /// The number up to which this is all.
    public var upTo: UInt64

    /// These messages.
    public init(messages: [UndeliveredMessage], upTo: UInt64) {
        self.messages = messages
        self.upTo = upTo
    }
}
