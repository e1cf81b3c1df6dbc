public import PresenceCore

/// What a stanza is addressed to.
public enum StanzaAddress: Hashable, Sendable {
    /// Nothing, which is the account of the sender.
    case none
    /// A domain of the service.
    case service
    /// The bare JID of an account.
    case account([UInt8])
    /// The full JID of a device; nil: one that no session can have.
    case device(account: [UInt8], device: [UInt8]?)
}

/// A message as a client has written it.
public struct WrittenMessage: Hashable, Sendable {
    /// The recipient.
    public var account: [UInt8]
    /// The text; empty: it has none.
    public var body: [UInt8]
    /// The id; nil: it has none that can be kept.
    public var ref: [UInt8]?
    /// What else it has.
    public var parts: StanzaParts<[UInt8]>
    /// Whether other clients of the sender and of the recipient are sent copies (XEP-0280).
    public var isCopied = true
}

/// Whom a message is for that is not stored.
public struct RelayedMessage: Hashable, Sendable {
    /// The account.
    public var account: [UInt8]
    /// The device; nil: all that are available with a priority of 0 or more.
    public var device: [UInt8]?
    /// Whether it is for those also if the device is not connected (RFC 6121, 8.5.3.2.1).
    public var isForAnyDevice: Bool
    /// Whether its user has written it, who is to learn that it does not arrive.
    public var isWritten: Bool
    /// Whether other clients of the sender and of the recipient are sent copies (XEP-0280).
    public var isCopied = true
}

/// What a stanza asks for, with every limit checked that depends on the stanza alone. Names are
/// those of accounts and devices, not parts of JIDs.
public enum XMPPRequest: Hashable, Sendable {
    // MARK: Presence

    /// Present the device to the subscribers.
    case show(Availability)
    /// Present the device as unavailable.
    case hide(Availability)
    /// Present the device to one account, or to one device of it, which need not subscribe.
    case direct(account: [UInt8], device: [UInt8]?, Presentation)
    /// Change the relationship with an account: a word, or a change of the roster.
    case relate(account: [UInt8], ContactAction)
    /// Report the state of an account.
    case probe(account: [UInt8])

    // MARK: Roster

    /// List the contacts, and send their changes from now on.
    case listContacts

    // MARK: Questions to the service

    /// Answer with a result.
    case ping
    /// What the service, or an account of it, supports.
    case discoverFeatures(account: [UInt8]?)
    /// What else the service, or an account of it, has.
    case discoverItems(account: [UInt8]?)
    /// For how long the service has run.
    case uptime
    /// When an account was last online.
    case lastSeen(account: [UInt8])
    /// The name and version of the service.
    case version
    /// The time of the service.
    case time

    // MARK: Cards

    /// The card of an account.
    case card(account: [UInt8])
    /// Replace the card of the sender's account by this, as it is written again; empty: remove it.
    case setCard([UInt8])

    // MARK: Registration

    /// The fields of a registration.
    case registrationForm
    /// Change the password of the sender's account.
    case changePassword([UInt8])
    /// Remove the account.
    case unregister

    // MARK: Messages

    /// Store a message for its recipient.
    case send(WrittenMessage)
    /// Give a message that is not stored to devices that are connected.
    case relayMessage(RelayedMessage)
    /// Send the client copies of what others of its account send and receive, or no more.
    case setCarbons(isOn: Bool)

    // MARK: Others

    /// Give the iq to a device. If it is not there, and the iq wants an answer, that is an error.
    case relayIQ(account: [UInt8], device: [UInt8], wantsAnswer: Bool)
    /// An answer to an iq of the service; its id is that of the stanza.
    case answer(isError: Bool)
    /// Nothing is to be done or said.
    case ignore
}
