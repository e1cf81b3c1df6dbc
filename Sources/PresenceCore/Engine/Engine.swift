// The engine: accounts, sessions, subscriptions and statuses as one state machine.
//
// It is given what happened and when (`handle`, `connectionLost`, `committed`, `failed`, `advance`)
// and appends what is to be done to a buffer of the caller's. It does no I/O, reads no clock, keeps
// no closure: the same inputs give the same effects, byte for byte.
//
//     logIn, handle(authorise(command, …), …) → carry out the effects → …
//     connectionLost when a connection has ended;     committed/failed when the store reports
//     advance when the clock has reached `nextWake`;  drained, missed when a connection says so
//
// A change that must be durable is checked and recorded when it is requested, and applied when the
// store has committed it: what others see is always on disk, and a failed commit has nothing to
// undo. Until then further changes of the account wait in order (`deferred`). An account has at
// most one change in flight.
//
// There is one file per aspect: `Engine+Login`, `+Disconnect`, `+Subscribe`, `+Publish`, `+Query` …

import Containers

/// The presence state machine. See the top of `Engine.swift` for its order of use.
public struct Engine: ~Copyable {
    /// The operator's settings.
    public private(set) var settings: Settings

    // Accounts; all four by handle.
    var names: NameTable
    var accounts = ChunkedArray<Account>()
    /// The first session of each account in order of login: what a fan-out reads first.
    var firstSession: [UInt32] = []
    var index = SubscriptionIndex()

    var topics = Topics()
    var statuses = Statuses()

    var sessions = Slab<Session>()
    /// By session.
    var links: [SessionLink] = []
    /// Sessions that others do not see, by account; no entry for none.
    var hidden = PartedDictionary<UInt32, [UInt32]>()
    /// How many sessions are those of XMPP clients, which are sent their account's own presence.
    var resourceCount = 0
    /// What sessions have missed that do not keep up; by session.
    var conflations = PartedDictionary<UInt32, Conflation>()
    /// When who sees a publisher last changed, among all numbers; no entry: not since the start.
    var sightChanges = PartedDictionary<UInt32, UInt64>()
    /// Recent ends of devices and of sight, for sessions that have missed them.
    var endedPresences = EndedPresenceLog()
    var strings = ByteSlab()
    /// The presence of devices that present themselves as other than available.
    var availabilities = Slab<Availability>()
    /// To whom sessions have presented themselves besides their subscribers.
    var directed = DirectedAddresses()
    var relations = Relations()
    /// By slot of the connection.
    var connections = ChunkedArray<ConnectionSlot>()

    /// Whether there is a feed reader, or was one recently.
    var feed = FeedSwitch.off

    /// Fan-outs that take more than one turn.
    var fanOuts = FanOuts()

    var wheel: TimingWheel
    var sequence: Numbering
    var stats = Stats()
    /// Counters by kind.
    public internal(set) var tallies = Tallies()
    /// Messages that wait.
    var inboxes = Inboxes()
    /// What sessions have been sent of them; by session, of those that asked for messages.
    var readers = PartedDictionary<UInt32, MessageReader>()
    /// Messages that were taken and that other sessions are still to be sent.
    var owed = OwedMessages()
    /// Sessions that are sent copies of what their accounts send; by session.
    var copyReaders = PartedDictionary<UInt32, CopyReader>()
    /// What strangers have recently sent each account, which they share.
    var strangerPaces = SharedTokenBuckets<HistoryAccount, HistoryAccount>(countMax: 65_536)
    /// Messages that wait for the store.
    var sendsInFlight = SendsInFlight()
    var messageStats = MessageStats()
    /// Removals of discarded messages that wait for the store.
    var discards = DiscardsInFlight()
    /// Messages that were handed over.
    var undelivered = UndeliveredOrder()

    /// The labels of devices.
    var devices: DeviceTable

    /// Recent history.
    var history: History

    /// Changes that wait for the store.
    var inFlight = ChangesInFlight()
    /// Subscribers that topics will have when changes in flight are applied, beyond the current
    /// ones; kept only if there is a limit on them.
    var joining: [UInt64: Int] = [:]
    /// Changes that wait for an earlier one of their account, in order.
    var deferred = DeferredChanges()
    /// Requests of contacts that changes in flight will add, by the account that is asked.
    var requestsInFlight: [UInt32: Int] = [:]

    /// Accounts that were added in this call.
    var interned: [UInt32] = []
    /// Accounts that may have lost their last reference in the call before this one.
    var retired: [UInt32] = []
    /// The progress of forgetting, see `Engine+AccountRetention`.
    var retention = AccountRetention()
    /// Reused wherever a short list of topics is needed.
    var topicScratch: [TopicHandle] = []

    /// An engine without accounts.
    ///
    /// `seed` keys the hash of names, and the last digits of numbers depend on it; nothing else.
    public init(settings: Settings, at now: Moment, seed: UInt64) {
        self.settings = settings
        names = NameTable(seed: seed)
        devices = DeviceTable(seed: seed)
        wheel = TimingWheel(now: now.mono.milliseconds)
        sequence = Numbering(at: now, seed: seed)
        history = History(settings.history, at: now.wall)
    }

    /// Uses other settings from the next call on.
    ///
    /// What is in progress keeps its deadlines, and an account that has more than a new limit
    /// allows keeps it. The heartbeat must not differ: clients that have logged in were sent it.
    public mutating func apply(_ new: Settings, into effects: inout Effects) {
        precondition(
            new.heartbeatSeconds == settings.heartbeatSeconds,
            "a heartbeat that clients were not sent")
        let areTurnedOn = settings.messages == .off && new.messages == .on
        settings = new
        if areTurnedOn { fetchForAll(into: &effects) }
    }

    /// When `advance` will next have something to do, or before; nil for never.
    public var nextWake: Mono? {
        wheel.nextWake.map { Mono(milliseconds: $0) }
    }

    /// Carries out a command or rejects it, or keeps it until the store has committed.
    ///
    /// Every command is answered once, by `Effect.answer` or `.reject`, unless its connection has
    /// ended by then. A connection should wait for one response before it gives the next command.
    /// Nothing of `texts` is needed afterwards.
    public mutating func handle(
        _ request: AuthorisedCommand, _ texts: TextSource, at now: Moment,
        into effects: inout Effects
    ) {
        precondition(isLoggedIn(request.connection), "authorised, and its session has ended")
        sequence.note(now.mono)
        attempt(from: request.connection, into: &effects) { engine, effects throws(Rejection) in
            try engine.carryOut(request, texts, at: now, into: &effects)
        }
    }

    /// Begins a session of an account, which the caller has authenticated.
    public mutating func logIn(
        _ login: Login, from connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) {
        sequence.note(now.mono)
        attempt(from: connection, into: &effects) { engine, effects throws(Rejection) in
            try engine.authorise(.login, from: connection)
            let account = try engine.intern(login.account.span)
            let pace = engine.settings.loginPace
            try engine.accounts[Int(account.index)].logins.spend(pace, at: now.mono)
            switch login.beginning {
            case .shown:
                try engine.beginSession(
                    login, of: account, from: connection, at: now, into: &effects)
            case .hidden:
                try engine.beginHidden(
                    login, of: account, from: connection, at: now, into: &effects)
            }
        }
    }

    /// Begins a session of an app server, which has no account and causes no presence events.
    public mutating func logInAppServer(
        _ rights: AppServerRights = .all, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        attempt(from: connection, into: &effects) { engine, effects throws(Rejection) in
            try engine.authorise(.login, from: connection)
            engine.beginAppServer(rights, from: connection, at: now, into: &effects)
        }
    }

    /// Continues the session until another token ends. `account` is the name in that token.
    public mutating func refresh(
        _ account: [UInt8], until term: TokenTerm, from connection: ConnectionID,
        into effects: inout Effects
    ) {
        attempt(from: connection, into: &effects) { engine, effects throws(Rejection) in
            try engine.authorise(.refresh, from: connection)
            guard engine.owner(of: connection) == engine.find(account.span) else {
                throw Rejection(.forbidden, field: .token)
            }
            effects.answer(connection, .refreshed(term))
        }
    }

    /// Carries out what `connection` has requested, or rejects it.
    private mutating func attempt(
        from connection: ConnectionID, into effects: inout Effects,
        _ body: (inout Engine, inout Effects) throws(Rejection) -> Void
    ) {
        forgetRetired(after: effects)
        do throws(Rejection) {
            try body(&self, &effects)
        } catch {
            effects.items.append(.reject(connection, error))
        }
        retireInterned()
        reserveSequence(into: &effects)
    }

    /// What needs an account that is not known yet interns its name; what only asks does not.
    @inline(__always)
    private mutating func carryOut(
        _ request: AuthorisedCommand, _ texts: TextSource, at now: Moment,
        into effects: inout Effects
    ) throws(Rejection) {
        let connection = request.connection
        let account: AccountHandle, change: Change
        switch request.command {
        case .logout: return logout(connection, at: now, into: &effects)
        case .ping: return effects.answer(connection, .pong(time: now.wall))
        case .subscribe(let name, let subscribe):
            account = try subject(name, texts, of: request)
            change = .subscribe(try intern(subscribe, texts))
        case .unsubscribe(let name, let unsubscribe):
            account = try subject(name, texts, of: request)
            change = .unsubscribe(try intern(unsubscribe, texts))
        case .subscriptions(let name, let list):
            return listSubscriptions(
                of: try subject(name, texts, of: request), list, texts, from: connection, at: now,
                into: &effects)
        case .publish(let name, let publish):
            account = try subject(name, texts, of: request)
            change = .publish(publish.with(ext: publish.ext.map { texts.bytes($0) }))
        case .clear(let name, let type):
            (account, change) = (try subject(name, texts, of: request), .clear(type))
        case .relate(let name, let contact, let action):
            account = try subject(name, texts, of: request)
            change = .relate(try intern(contact, texts), action)
        case .contacts(let name, let list):
            return listContacts(
                of: try subject(name, texts, of: request), list, from: connection, into: &effects)
        case .setVisibility(let name, let visibility):
            (account, change) = (try subject(name, texts, of: request), .setVisibility(visibility))
        case .setAvailability(let availability):
            return try setAvailability(availability, of: request.client, at: now, into: &effects)
        case .show(let availability):
            return try show(availability, request.client, at: now, into: &effects)
        case .hide(let farewell):
            return hide(farewell, try request.client, at: now, into: &effects)
        case .direct(let direct):
            return try self.direct(direct, texts, from: request.client, at: now, into: &effects)
        case .probe(let name):
            return probe(find(name, texts), from: try request.client, at: now, into: &effects)
        case .lastSeen(let name):
            return try lastSeen(of: find(name, texts), from: request.client, into: &effects)
        case .sees(let name):
            _ = try seen(find(name, texts), by: request.client)
            return effects.answer(connection, .done)
        case .send(let name, let send):
            return try self.send(send, from: name, texts, of: request, at: now, into: &effects)
        case .take(let message):
            return take(message, try request.client, at: now, into: &effects)
        case .setCopies(let areSent):
            return setCopies(areSent, to: try request.client, into: &effects)
        case .discard(let name, let sender):
            return discard(name, from: sender, texts, for: connection, at: now, into: &effects)
        case .setDevice(let name, let set):
            account = try subject(name, texts, of: request)
            change = try deviceChange(set, texts, of: request)
        case .devices(let name):
            return listDevices(try subject(name, texts, of: request), connection, into: &effects)
        case .query(let type, let names):
            return query(type, names, texts, from: connection, at: now, into: &effects)
        case .subscribers(let list):
            return listSubscribers(list, texts, from: connection, at: now, into: &effects)
        case .sessions(let name):
            return listSessions(of: find(name, texts), from: connection, at: now, into: &effects)
        case .kick(let kick):
            return self.kick(kick, texts, from: connection, at: now, into: &effects)
        }
        try make(change, of: account, from: connection, at: now, into: &effects)
    }
}

extension Effects {
    /// Answers the request that `connection` waits for.
    public mutating func answer(_ connection: ConnectionID, _ answer: Answer) {
        items.append(.answer(connection, index: answers.count))
        answers.append(answer)
    }

    /// Has `record` stored; `ticket` identifies the change that waits for it.
    mutating func persist(_ record: Record, ticket: Ticket? = nil) {
        items.append(.persist(ticket, index: records.count))
        records.append(record)
    }

    /// Copies `text` and returns its range.
    mutating func copy(_ text: [UInt8]) -> ByteRange {
        let start = bytes.count
        bytes.append(contentsOf: text)
        return ByteRange(start: Int32(start), count: Int32(text.count))
    }

    /// Copies a text of a slab and returns its range.
    mutating func copy(_ text: SlabRef, from slab: borrowing ByteSlab) -> ByteRange {
        let start = bytes.count
        slab.append(text, to: &bytes)
        return ByteRange(start: Int32(start), count: Int32(bytes.count - start))
    }
}

extension ByteSlab {
    /// A copy of a string.
    func bytes(of string: SlabRef) -> [UInt8] {
        var bytes: [UInt8] = []
        append(string, to: &bytes)
        return bytes
    }
}
