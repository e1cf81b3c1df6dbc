/// Every limit of the protocol, with its unit in its name.
///
/// The defaults are those of `docs/PROTOCOL.md`. Where NetEase NIM has the same limit, they are
/// equal, so that users can migrate without new limits. The response to a login has the ones in
/// force.
public struct Limits: Hashable, Sendable {
    /// The most that can be set for the two that follow. As a part of a JID, such a name has three
    /// times as many, and may have 1,023 (RFC 7622).
    public static let nameBytesMax = 255
    /// Bytes of UTF-8 in an account's name.
    public var accountBytesMax = 128
    /// Bytes of UTF-8 in a device's name.
    public var deviceBytesMax = 64
    /// Bytes of UTF-8 in the `ext` of a status. NIM's `config` has the same.
    public var extBytesMax = 4_096
    /// Bytes of UTF-8 in the reason that an app server gives for a kick.
    public var kickReasonBytesMax = 256
    /// Publishers named by one request (NIM: 100).
    public var publishersPerRequestMax = 100
    /// Accounts in one `query`.
    public var accountsPerQueryMax = 500
    /// Subscriptions of one account in force at a time, over all types (NIM: 3,000).
    public var subscriptionsPerAccountMax = 3_000
    /// Sessions of one account.
    public var sessionsPerAccountMax = 10
    /// Statuses of one account in force at a time, over all types.
    public var statusesPerAccountMax = 100
    /// Contacts of one account.
    public var contactsPerAccountMax = 1_000
    /// Requests of contacts that one account has not answered.
    public var requestsPerAccountMax = 200
    /// Bytes of UTF-8 in the text of a request.
    public var requestTextBytesMax = 512
    /// Bytes of UTF-8 in the text of an availability.
    public var availabilityTextBytesMax = 1_024
    /// Bytes of the names and texts on a page of a list; the last entry may exceed it.
    public static let pageBytesMax = 65_536
    /// Addresses to which one session has presented itself besides its subscribers; XMPP only.
    public static let directedAddressesMax = 32
    /// Bytes of the card of an account, as XML; XMPP only.
    public static let cardBytesMax = 98_304
    /// Bytes of UTF-8 in an alias or a tag of a device.
    public static let labelBytesMax = 40
    /// Tags of one device.
    public static let tagsPerDeviceMax = 100
    /// Bytes of UTF-8 in the alias and the tags of one device, together.
    public static let labelsBytesMax = 1_024
    /// Bytes of UTF-8 in the push address of a device.
    public static let pushAddressBytesMax = 2_048
    /// Devices of one account with labels or a push address; beyond, only those with a session.
    public static let devicesPerAccountMax = 20
    /// Bytes of UTF-8 in the body and the `ext` of a message, together.
    public var messageBytesMax = 131_072
    /// Bytes of UTF-8 in the `ref` of a message.
    public var refBytesMax = 64
    /// Recipients of one message of a client.
    public var accountsPerSendMax = 10
    /// Recipients of one message of an app server.
    public var accountsPerSendOfAppServersMax = 100
    /// Aliases by which one message is sent.
    public static let aliasesPerSendMax = 100
    /// Tags in each of the lists by which one message is sent.
    public static let tagsPerSendMax = 20
    /// Devices that get one message by their aliases or tags.
    public var recipientsPerSendMax = 1_000
    /// Devices that are looked through for those that tags select, if one list is not enough.
    public static let devicesPerSelectionMax = 100_000
    /// Shortest time for which a message waits, in seconds.
    public var messageExpirySecondsMin = 60
    /// Longest time for which a message waits, in seconds: 30 days.
    public var messageExpirySecondsMax = 2_592_000
    /// The time for which a message waits whose request has none, in seconds: 7 days.
    public var messageExpirySecondsDefault = 604_800
    /// Messages that wait for one account; strangers fill at most half.
    public var messagesPerAccountMax = 100
    /// What they may count for in bytes; strangers fill at most half.
    public var messageBytesPerAccountMax = 4 << 20
    /// Messages of one account that wait, each once for each recipient. App servers have no limit.
    public var messagesPerSenderMax = 1_000
    /// What they may count for in bytes.
    public var messageBytesPerSenderMax = 16 << 20
    /// What all messages that wait may count for in bytes.
    public var messageBytesInAllMax = 1 << 30
    /// Accounts that the service knows: online, subscribed, subscribed to, or seen before.
    public var accountsMax = 20_000_000
    /// Entries on one page of a list.
    public var pageEntriesMax = 1_000
    /// Entries on one page of a list if the request has no limit.
    public var pageEntriesDefault = 100
    /// Shortest subscription, in seconds (NIM: 60).
    public var subscriptionExpirySecondsMin = 60
    /// Longest subscription, in seconds: 30 days (NIM: the same).
    public var subscriptionExpirySecondsMax = 2_592_000
    /// Shortest life of a status, in seconds (NIM: 60).
    public var statusExpirySecondsMin = 60
    /// Longest life of a status, in seconds: 7 days (NIM: the same).
    public var statusExpirySecondsMax = 604_800
    /// Life of a status whose request has no expiry, in seconds.
    public var statusExpirySecondsDefault = 604_800
    /// Lowest custom type.
    public var customTypeMin = 100
    /// Highest type.
    public var customTypeMax = 65_535
    /// Lowest value that an app may publish; lower values are reserved.
    public var customValueMin = 10_000
    /// Highest value: what a signed 32-bit integer holds.
    public var customValueMax = 2_147_483_647
    /// Body of a client's frame, in bytes.
    public var frameBytesMax = 262_144
    /// Body of a client's frame before it has logged in, in bytes.
    public var frameBytesBeforeLoginMax = 16_384
    /// Body of a frame from the service, in bytes; longer lists are split.
    public var serverFrameBytesMax = 1_048_576
    /// Bytes of UTF-8 in the `id` of a request.
    public var requestIDBytesMax = 128
    /// States in one `events` notification of a login list.
    public var statesPerFrameMax = 100

    /// The defaults.
    public init() {}

    /// What messages of accounts that wait may count for in bytes: app servers have the rest.
    public var bytesOfAccountsMax: Int { messageBytesInAllMax - messageBytesInAllMax / 4 }

    /// What one account's box holds.
    var messagesPerAccount: MessageAmount {
        MessageAmount(count: messagesPerAccountMax, byteCount: messageBytesPerAccountMax)
    }
}

/// The operator's settings of the engine.
public struct Settings: Hashable, Sendable {
    /// Seconds between the loss of a connection and its event.
    public var disconnectGraceSeconds = 5
    /// Seconds for which sessions are kept after the service has restarted.
    public var restartGraceSeconds = 30
    /// Seconds within which a client must have sent something.
    public var heartbeatSeconds = 30
    /// Seconds for which a device stays push-only without reconnecting: 7 days.
    public var pushReachableSeconds = 604_800
    /// Which peers set the aliases and tags of devices.
    public enum LabelSetters: String, CaseIterable, Sendable {
        /// Clients, each of its own device, and app servers.
        case clients
        /// App servers only.
        case appServers = "app-servers"
    }

    /// Whether there are messages.
    public enum MessagesSwitch: String, CaseIterable, Sendable {
        case on
        /// Their methods are forbidden. What waits stays.
        case off
    }

    /// How a push-reachable device is treated when its connection is lost.
    public var pushReachable = PushReachablePolicy.online
    /// Seconds for which an unused account is remembered: a year.
    public var rememberSeconds = 31_536_000
    /// Seconds for which the wall clock must have run evenly before it is used to forget accounts.
    public var evenClockSeconds = 3_600
    /// Rate limit of publishes and clears of an account, over all its sessions; nil for none.
    public var publishPace: Pace? = Pace(perSecond: 20, burst: 200)
    /// Rate limit of messages to an account by all accounts together that it is not related to; nil
    /// for none.
    public var strangerPace: Pace? = Pace(perSecond: 2, burst: 100)
    /// Rate limit of logins of an account; nil for none.
    public var loginPace: Pace? = Pace(perSecond: 1, burst: 60)
    /// Who sees an account that has not said so.
    public var visibility = Visibility.open
    /// Whether there are messages.
    public var messages = MessagesSwitch.on
    /// Which peers set the aliases and tags of devices.
    public var deviceLabels = LabelSetters.clients
    /// Seconds within which a device must take a message, before it is handed over.
    public var pushAfterSeconds = 10
    /// Bytes of a message's texts that a reader of what is undelivered is sent; 0: none.
    public var undeliveredBytesMax = 1_024
    /// Nil: there is no Web Push.
    public var push: PushOffer?
    /// Subscribers of one type of one publisher; nil for any number.
    public var subscribersPerPublisherMax: Int?
    /// Subscribers that an event is sent to at once; a larger fan is walked in slices of this size.
    public var subscribersPerSlice = 1_000
    /// The size of the history for `why` and `top`.
    public var history = HistoryLimits()
    /// The limits of the protocol.
    public var limits = Limits()

    /// The defaults.
    public init() {}

    /// These without rate limits.
    public var withoutPace: Settings {
        var settings = self
        settings.publishPace = nil
        settings.strangerPace = nil
        settings.loginPace = nil
        return settings
    }

    /// The idle timeout in milliseconds: one and a half heartbeats.
    public var silenceMillisecondsMax: UInt64 {
        UInt64(heartbeatSeconds) * 1_500
    }
}

/// How a push-reachable device is treated when its connection is lost.
public enum PushReachablePolicy: String, CaseIterable, Sendable {
    /// It stays in `online` (what NIM does).
    case online
    /// It goes offline as any other.
    case offline
}
