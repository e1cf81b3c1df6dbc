// Presence for one address, which need not subscribe (RFC 6121, section 4.6).

/// What a device says of itself to an address.
public enum Presentation: Hashable, Sendable {
    /// It is online.
    case available(Availability)
    /// It is not there any more. Of the farewell the text and further content are said.
    case unavailable(farewell: Availability)

    /// How it presents itself, or takes leave.
    public var availability: Availability {
        switch self {
        case .available(let availability), .unavailable(let availability): availability
        }
    }
}

/// Parameters of `direct`.
public struct Direct: Hashable, Sendable {
    /// The account that is addressed.
    public var account: ByteRange
    /// Its device that is addressed; nil: all that are available.
    public var device: ByteRange?
    /// What the device of the session says.
    public var presentation: Presentation

    /// A presence for an address.
    public init(account: ByteRange, device: ByteRange?, presentation: Presentation) {
        self.account = account
        self.device = device
        self.presentation = presentation
    }
}

/// A presence for receivers that need not subscribe; names in `Effects.bytes`.
public struct DirectedPresence: Hashable, Sendable {
    /// The account of the sender.
    public var account: AccountHandle
    /// Its name.
    public var sender: ByteRange
    /// The device of the sender, and how it presents itself, or takes leave.
    public var device: DeviceEntry
    /// Whether the device is online.
    public var kind: Kind
    /// The device that was addressed; nil: it was the account, or it is the end of the session.
    public var addressed: ByteRange?
    /// Whether it is for a contact of the sender, in either direction. Not set at the end of a
    /// session.
    public var isFromContact = false

    /// Whether a device is online.
    public enum Kind: UInt8, Sendable {
        case available
        /// Not any more: for receivers that were sent that it is.
        case unavailable
        /// Not any more: for receivers that see the device as subscribers, or are of its account.
        case unavailableToSubscribers
    }
}

/// What a stanza is that one client has for another.
public enum RelayedKind: Sendable {
    /// An iq that is to be answered.
    case question
    /// The answer to an iq.
    case answer
    /// A message that is not stored.
    case message
}

/// The client to which a stanza of another is handed.
public struct RelayTarget: Hashable, Sendable {
    /// Its connection.
    public var connection: ConnectionID
    /// The account of the client that has sent the stanza.
    public var sender: AccountHandle
    /// Whether one of the accounts sees the other by a relationship, or both are the same.
    public var isOfContact: Bool
    /// Whether stored messages that were sent before wait to be sent to it. A message that is not
    /// stored would overtake them (RFC 6120, section 10.1).
    public var isBehind: Bool
}
