/// The methods of the protocol, and what applies to each.
///
/// The engine carries out those that are a `Command`, and begins and continues sessions. Its caller
/// answers the others, which are about the service. Permission for all of them is checked here,
/// because the engine knows what a connection has logged in as.
public enum MethodName: String, CaseIterable, Sendable {
    case login, refresh, logout, ping, subscribe, unsubscribe, subscriptions, publish, clear
    case relate, contacts, setVisibility, setAvailability
    case send, take, discard, setDevice, devices
    case query, subscribers, sessions, kick, setPassword, removePassword
    case stats, metrics, why, top, feed, undelivered

    /// What applies to the method.
    public var rules: Rules {
        switch self {
        case .login: Rules(.anonymous, .needed, .small, .changes)
        case .refresh: Rules(.clients, .notNeeded, .small, .changes)
        case .logout: Rules(.everySession, .notNeeded, .small, .reads)
        case .ping: Rules(.everySession, .notNeeded, .small, .reads)
        case .subscribe: Rules(.everySession, .needed, .small, .changes)
        case .unsubscribe: Rules(.everySession, .notNeeded, .small, .changes)
        case .subscriptions: Rules(.everySession, .notNeeded, .small, .reads)
        case .publish: Rules(.everySession, .needed, .small, .changes)
        case .clear: Rules(.everySession, .notNeeded, .small, .changes)
        case .relate: Rules(.everySession, .needed, .small, .changes)
        case .contacts: Rules(.everySession, .notNeeded, .small, .reads)
        case .setVisibility: Rules(.everySession, .needed, .small, .changes)
        case .setAvailability: Rules(.clients, .needed, .small, .changes)
        case .send: Rules(.everySession, .needed, .small, .changes)
        case .take: Rules(.clients, .notNeeded, .small, .changes)
        case .discard: Rules(.appServers, .notNeeded, .small, .changes)
        case .setDevice: Rules(.everySession, .needed, .small, .changes)
        case .devices: Rules(.everySession, .notNeeded, .small, .readsSecrets)
        case .query: Rules(.appServers, .notNeeded, .small, .reads)
        case .subscribers: Rules(.appServers, .notNeeded, .large, .reads)
        case .sessions: Rules(.appServers, .notNeeded, .small, .reads)
        case .kick: Rules(.appServers, .notNeeded, .small, .changes)
        case .setPassword: Rules(.appServers, .needed, .small, .changes)
        case .removePassword: Rules(.appServers, .notNeeded, .small, .changes)
        case .stats: Rules(.appServers, .notNeeded, .large, .reads)
        case .metrics: Rules(.appServers, .notNeeded, .large, .reads)
        case .why: Rules(.appServers, .notNeeded, .large, .reads)
        case .top: Rules(.appServers, .notNeeded, .large, .reads)
        case .feed: Rules(.appServers, .notNeeded, .small, .reads)
        case .undelivered: Rules(.appServers, .notNeeded, .small, .readsSecrets)
        }
    }

    /// What applies to a method. Nothing has a default: a new method states all of it.
    public struct Rules: Hashable, Sendable {
        /// The peers that may use it.
        public let permission: Permission
        /// Whether it takes memory or a place in the store's backlog.
        public let room: Room
        /// How much work it is.
        public let work: Work
        /// Whether it changes anything for accounts, or reads what is secret.
        public let effect: Effect

        init(_ permission: Permission, _ room: Room, _ work: Work, _ effect: Effect) {
            self.permission = permission
            self.room = room
            self.work = work
            self.effect = effect
        }
    }

    /// Whether a method is rejected while there is too little memory, or the store is far behind.
    public enum Room: Sendable {
        case needed
        case notNeeded
    }

    /// Whether a method is for app servers whose key may only read, too.
    public enum Effect: Sendable {
        case reads
        /// It reads the bodies of messages, or push addresses with their secrets.
        case readsSecrets
        case changes
    }

    /// Whether it is about messages or the devices that get them, which the operator may turn off.
    var isAboutMessages: Bool {
        switch self {
        case .send, .take, .discard, .undelivered, .setDevice, .devices: true
        default: false
        }
    }

    /// How much work a method is, compared with others.
    public enum Work: Sendable {
        case small
        /// It reads large tables.
        case large
    }
}

/// The peers that may use a method.
public enum Permission: CaseIterable, Sendable {
    /// Connections that have not logged in.
    case anonymous
    /// Sessions of accounts.
    case clients
    /// Sessions of app servers.
    case appServers
    /// Both.
    case everySession
}

/// A request to the engine, as it was decoded.
///
/// Names and texts are ranges of the request's `TextSource`; the engine resolves them when it
/// handles the command. The caller has checked the limits that depend on the request alone; the
/// engine checks those that depend on its state.
///
/// `account` is the account that an app server acts for; nil for a client's own account.
public enum Command: Hashable, Sendable {
    /// End the session by a logout.
    case logout
    /// Return the time; a sign of life.
    case ping
    /// Subscribe to publishers for a while.
    case subscribe(account: ByteRange?, Subscribe<NameList>)
    /// Unsubscribe from publishers, or from all of a type.
    case unsubscribe(account: ByteRange?, Unsubscribe<NameList>)
    /// List the subscriptions of an account.
    case subscriptions(account: ByteRange?, ListSubscriptions)
    /// Set the status of a publisher.
    case publish(account: ByteRange?, Publish<ByteRange>)
    /// Clear the status of a publisher.
    case clear(account: ByteRange?, EventType)
    /// Change the relationship of an account with a contact.
    case relate(account: ByteRange?, contact: ByteRange, ContactAction)
    /// List the contacts of an account, and the accounts that ask it.
    case contacts(account: ByteRange?, ListContacts)
    /// Set which of its subscribers see an account; nil: those that the setting says.
    case setVisibility(account: ByteRange?, Visibility?)
    /// Set how the device of the session presents itself.
    case setAvailability(Availability)
    /// Show the device of the session, which may have been hidden. For protocols whose sessions
    /// begin hidden.
    case show(Availability)
    /// Hide the device of the session, which stays connected. The subscribers are sent the
    /// farewell.
    case hide(farewell: Availability)
    /// Present the device of the session to one address, whether or not that subscribes.
    indirect case direct(Direct)
    /// Send the session the state of a contact, if it sees it.
    case probe(ByteRange)
    /// Ask since when a contact that the session sees has been offline.
    case lastSeen(ByteRange)
    /// Answer whether the session sees a contact.
    case sees(ByteRange)
    /// Leave a message for accounts. The account is who sends it; an app server that names none
    /// sends it as the service.
    indirect case send(account: ByteRange?, Send)
    /// Take a message, and all that the session was sent before it.
    case take(MessageID)
    /// Send the session copies of what other sessions of its account send, or not any more.
    case setCopies(areSent: Bool)
    /// Forget what waits for an account, or what a sender has left for it, or for all.
    case discard(account: ByteRange?, from: ByteRange?)
    /// Set the labels and the push address of a device.
    indirect case setDevice(account: ByteRange?, SetDevice)
    /// List the devices of an account that have some.
    case devices(account: ByteRange?)
    /// Read states.
    case query(EventType, accounts: NameList)
    /// List the subscribers of a publisher.
    case subscribers(ListSubscribers)
    /// List an account's sessions.
    case sessions(account: ByteRange)
    /// End sessions of an account.
    case kick(Kick)
}

extension Command {
    /// The method, without the parameters.
    public var name: MethodName {
        switch self {
        case .logout: .logout
        case .ping: .ping
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        case .subscriptions: .subscriptions
        case .publish: .publish
        case .clear: .clear
        case .relate: .relate
        case .contacts: .contacts
        case .setVisibility: .setVisibility
        case .setAvailability, .show, .hide, .direct: .setAvailability
        // Takes no room: it is not rejected while memory or the store is short.
        case .probe, .lastSeen, .sees, .setCopies: .contacts
        case .send: .send
        case .take: .take
        case .discard: .discard
        case .setDevice: .setDevice
        case .devices: .devices
        case .query: .query
        case .subscribers: .subscribers
        case .sessions: .sessions
        case .kick: .kick
        }
    }

    /// Whether it is about an account: the peer's own, or the one that it names.
    var subject: Subject {
        switch self {
        case .subscribe(let account, _): .account(account)
        case .unsubscribe(let account, _): .account(account)
        case .subscriptions(let account, _): .account(account)
        case .publish(let account, _): .account(account)
        case .clear(let account, _): .account(account)
        case .relate(let account, _, _): .account(account)
        case .contacts(let account, _): .account(account)
        case .setVisibility(let account, _): .account(account)
        case .setDevice(let account, _): .account(account)
        case .devices(let account): .account(account)
        case .send(let account, _): account.map { .account($0) } ?? .none
        case .logout, .ping, .setAvailability, .show, .hide, .direct, .probe, .lastSeen, .sees,
            .take, .setCopies, .discard, .query, .subscribers, .sessions, .kick:
            .none
        }
    }

    /// What a command is about.
    enum Subject {
        case none
        /// The account of this name; nil: the peer's own.
        case account(ByteRange?)
    }
}

/// How a device can be reached.
public enum Reach: UInt8, Sendable {
    /// Only while it is connected.
    case connection
    /// By push, too, when its connection is lost.
    case push
}

/// The states that a session is sent when it logs in.
public enum LoginList: UInt8, CaseIterable, Sendable {
    /// None.
    case none
    /// Those of publishers that are online or have a durable status.
    case online
    /// All, including offline and unknown ones.
    case all
}

/// Parameters of a login whose account has been authenticated.
public struct Login: Hashable, Sendable {
    /// The name of the account.
    public var account: [UInt8]
    /// The device's name; unique within its account.
    public var device: [UInt8]
    /// The kind of its client.
    public var client: ClientKind
    /// Whether push reaches the device when its connection is lost.
    public var reach: Reach
    /// The states in the login list.
    public var sync: LoginList
    /// By which leases the session is sent events.
    public var hears: Leases
    /// Whether others see it from the beginning.
    public var beginning: Beginning
    /// The address of the connection, shown to app servers.
    public var address: [UInt8]
    /// When the session ends with its token; nil without a token.
    public var term: TokenTerm?
    /// Whether it is sent messages.
    public var messages: MessageDelivery

    /// Whether a session is sent messages.
    public enum MessageDelivery: UInt8, Sendable {
        case off
        case on
        /// And copies of what the account sends elsewhere.
        case withCopies
    }

    /// Whether others see a session from its beginning.
    public enum Beginning: UInt8, Sendable {
        case shown
        /// Not before it shows itself, see `Command.show`.
        case hidden
    }

    /// A login.
    public init(
        account: [UInt8], device: [UInt8], client: ClientKind, reach: Reach = .connection,
        sync: LoginList = .online, hears: Leases = .timed, beginning: Beginning = .shown,
        address: [UInt8] = [], term: TokenTerm? = nil, messages: MessageDelivery = .off
    ) {
        self.account = account
        self.device = device
        self.client = client
        self.reach = reach
        self.sync = sync
        self.hears = hears
        self.beginning = beginning
        self.address = address
        self.term = term
        self.messages = messages
    }
}

/// Whether the response includes the states of the publishers.
public enum SubscribeAnswer: UInt8, Sendable {
    case withoutStates
    case withStates
}

/// Parameters of `subscribe`, with the publishers as names or, within the engine, as accounts.
public struct Subscribe<Publishers: Hashable & Sendable>: Hashable, Sendable {
    /// The type.
    public var type: EventType
    /// Seconds until it expires.
    public var expirySeconds: Int
    /// The publishers, without duplicates, in the order of the request.
    public var publishers: Publishers
    /// Whether the response includes their states.
    public var answer: SubscribeAnswer

    /// A request to subscribe.
    @inlinable public init(
        type: EventType, expirySeconds: Int, publishers: Publishers,
        answer: SubscribeAnswer = .withoutStates
    ) {
        self.type = type
        self.expirySeconds = expirySeconds
        self.publishers = publishers
        self.answer = answer
    }
}

/// Parameters of `unsubscribe`, with the publishers as names or, within the engine, as accounts.
public struct Unsubscribe<Publishers: Hashable & Sendable>: Hashable, Sendable {
    /// The type.
    public var type: EventType
    /// The publishers, without duplicates; nil for all.
    public var publishers: Publishers?

    /// A request to unsubscribe.
    @inlinable public init(type: EventType, publishers: Publishers? = nil) {
        self.type = type
        self.publishers = publishers
    }
}

/// Parameters of `subscriptions`.
public struct ListSubscriptions: Hashable, Sendable {
    /// Only this type; nil for all.
    public var type: EventType?
    /// Only these publishers; nil for all.
    public var publishers: NameList?
    /// The beginning of the page, from the previous one.
    public var cursor: UInt64?
    /// The most entries on the page.
    public var entriesMax: Int

    /// A request for a page.
    public init(
        type: EventType? = nil, publishers: NameList? = nil, cursor: UInt64? = nil,
        entriesMax: Int = 100
    ) {
        self.type = type
        self.publishers = publishers
        self.cursor = cursor
        self.entriesMax = entriesMax
    }
}

/// Whether a status is durable.
public enum Audience: UInt8, Sendable {
    /// No: it is for subscribers that are online when it is published.
    case onlineOnly
    /// Yes: it is also for those that log in later, and is on disk before the response.
    case everybody
}

/// Whether the publisher's own other sessions receive the event.
public enum OwnSessions: UInt8, Sendable {
    case included
    case excluded
}

/// Parameters of `publish`, with the text as a range or, within the engine, as bytes.
public struct Publish<Text: Hashable & Sendable>: Hashable, Sendable {
    /// The type.
    public var type: EventType
    /// The app's value.
    public var value: Int32
    /// Seconds until the status expires.
    public var expirySeconds: Int
    /// The app's text; nil if there is none.
    public var ext: Text?
    /// Whether it is durable.
    public var audience: Audience
    /// Whether the publisher's other sessions receive it, too.
    public var ownSessions: OwnSessions

    /// A request to publish.
    @inlinable public init(
        type: EventType, value: Int32, expirySeconds: Int, ext: Text? = nil,
        audience: Audience = .onlineOnly, ownSessions: OwnSessions = .included
    ) {
        self.type = type
        self.value = value
        self.expirySeconds = expirySeconds
        self.ext = ext
        self.audience = audience
        self.ownSessions = ownSessions
    }

    /// The same request with its text in another form.
    func with<Other>(ext: Other?) -> Publish<Other> {
        Publish<Other>(
            type: type, value: value, expirySeconds: expirySeconds, ext: ext, audience: audience,
            ownSessions: ownSessions)
    }
}

/// Parameters of `subscribers`.
public struct ListSubscribers: Hashable, Sendable {
    /// The type.
    public var type: EventType
    /// The publisher.
    public var publisher: ByteRange
    /// The beginning of the page, from the previous one.
    public var cursor: UInt64?
    /// The most entries on the page.
    public var entriesMax: Int

    /// A request for a page.
    public init(
        type: EventType, publisher: ByteRange, cursor: UInt64? = nil, entriesMax: Int = 100
    ) {
        self.type = type
        self.publisher = publisher
        self.cursor = cursor
        self.entriesMax = entriesMax
    }
}

/// Parameters of `contacts`.
public struct ListContacts: Hashable, Sendable {
    /// The beginning of the page, from the previous one.
    public var cursor: UInt64?
    /// The most entries on the page.
    public var entriesMax: Int

    /// A request for a page.
    public init(cursor: UInt64? = nil, entriesMax: Int = 100) {
        self.cursor = cursor
        self.entriesMax = entriesMax
    }
}

/// Parameters of `kick`.
public struct Kick: Hashable, Sendable {
    /// The account.
    public var account: ByteRange
    /// Only this device; nil for all.
    public var device: ByteRange?
    /// The reason that the clients are sent.
    public var reason: ByteRange?

    /// A request to kick.
    public init(account: ByteRange, device: ByteRange? = nil, reason: ByteRange? = nil) {
        self.account = account
        self.device = device
        self.reason = reason
    }
}
