// The engine: accounts, sessions, subscriptions and statuses as one state machine.
//
// It is told what happened and when (`handle`, `connectionLost`, `committed`, `failed`, `advance`)
// and appends what is to be done to a buffer of the caller's. It does no I/O, reads no clock, keeps
// no closure: the same inputs give the same effects, byte for byte.
//
//     intern names → handle(command, from:, at:, into:) → carry out the effects → …
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
    var accounts: [Account] = []
    /// The first session of each account in order of login: what a fan-out reads first.
    var firstSession: [UInt32] = []
    var index = SubscriptionIndex()

    var topics = Slab<Topic>()
    /// Topics of types other than presence, by account and type.
    var customTopics: [UInt64: UInt32] = [:]
    var statuses = Slab<Status>()

    var sessions = Slab<Session>()
    /// By session.
    var links: [SessionLink] = []
    /// What sessions have missed that do not keep up; by session.
    var conflations: [UInt32: Conflation] = [:]
    var strings = ByteSlab()
    /// By slot of the connection.
    var connections: [ConnectionSlot] = []

    /// Whether there is a feed reader, or was one lately.
    var feed = FeedSwitch.off

    /// Fan-outs that take more than one turn.
    var fanOuts = FanOuts()

    var wheel: TimingWheel
    var sequence: Numbering
    var stats = Stats()
    /// Counters by kind.
    public internal(set) var tallies = Tallies()
    /// Recent history.
    var history: History

    /// Changes that wait for the store.
    var inFlight = ChangesInFlight()
    /// Subscribers that topics will have when changes in flight are applied, beyond the current
    /// ones; kept only if there is a limit on them.
    var joining: [UInt64: Int] = [:]
    /// Requests that wait for an earlier change of their account, in order.
    var deferred: [UInt32: [DeferredCommand]] = [:]

    /// Accounts that the next command may refer to.
    var interned: [UInt32] = []
    /// Accounts that may have lost their last reference in the call before this one.
    var retired: [UInt32] = []
    /// The progress of forgetting, see `Engine+AccountRetention`.
    var retention = AccountRetention()
    /// Reused wherever a short list of topics is needed.
    var topicScratch: [TopicHandle] = []

    /// An engine without accounts.
    ///
    /// `seed` keys the hash of names; no result depends on it.
    public init(settings: Settings, at now: Moment, seed: UInt64) {
        self.settings = settings
        names = NameTable(seed: seed)
        wheel = TimingWheel(now: now.mono.milliseconds)
        sequence = Numbering(after: 0)
        history = History(settings.history, at: now.wall)
    }

    /// Uses other settings from the next call on.
    ///
    /// What is in progress keeps its deadlines, and an account that has more than a new limit
    /// allows keeps it. The heartbeat must not differ: clients that have logged in were sent it.
    public mutating func apply(_ new: Settings) {
        precondition(
            new.heartbeatSeconds == settings.heartbeatSeconds,
            "a heartbeat that clients were not sent")
        settings = new
    }

    /// When `advance` will next have something to do, or before; nil for never.
    public var nextWake: Mono? {
        wheel.nextWake.map { Mono(milliseconds: $0) }
    }

    /// Carries out a command or rejects it, or keeps it until the store has committed.
    ///
    /// Every command is answered once, by `Effect.answer` or `.refuse`, unless its connection has
    /// ended by then. A connection should wait for one response before it gives the next command.
    public mutating func handle(
        _ command: Command, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        sweep()
        perform(command, from: connection, at: now, into: &effects)
        retireInterned()
        reserveSequence(into: &effects)
    }

    mutating func perform(
        _ command: Command, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        do throws(Refusal) {
            let caller = self.caller(of: connection)
            if let refusal = Self.refusal(of: command.kind, by: caller) { throw refusal }
            try carryOut(command, by: caller, from: connection, at: now, into: &effects)
        } catch {
            effects.items.append(.refuse(connection, error))
        }
    }

    private mutating func carryOut(
        _ command: Command, by caller: Caller, from connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) throws(Refusal) {
        switch command {
        case .login(let login):
            try beginSession(login, from: connection, at: now, into: &effects)
        case .loginAppServer:
            beginAppServer(from: connection, at: now, into: &effects)
        case .refresh(let account, let term):
            guard case .client(_, let own) = caller, account == own else {
                throw Refusal(.forbidden, field: .token)
            }
            effects.answer(connection, .refreshed(term))
        case .logout:
            logout(connection, at: now, into: &effects)
        case .ping:
            effects.answer(connection, .pong(time: now.wall))
        case .subscribe(let request):
            let account = try subject(request.account, of: caller)
            if deferIfBusy(account, command, from: connection) { return }
            try subscribe(account, request, from: connection, at: now, into: &effects)
        case .unsubscribe(let request):
            let account = try subject(request.account, of: caller)
            if deferIfBusy(account, command, from: connection) { return }
            unsubscribe(account, request, from: connection, into: &effects)
        case .subscriptions(let request):
            let account = try subject(request.account, of: caller)
            listSubscriptions(of: account, request, from: connection, at: now, into: &effects)
        case .publish(let request):
            let account = try subject(request.account, of: caller)
            if deferIfBusy(account, command, from: connection) { return }
            try publish(account, request, from: connection, at: now, into: &effects)
        case .clear(let named, let type):
            let account = try subject(named, of: caller)
            if deferIfBusy(account, command, from: connection) { return }
            try clear(account, type, from: connection, at: now, into: &effects)
        case .query(let type, let accounts):
            query(type, accounts, from: connection, at: now, into: &effects)
        case .subscribers(let request):
            listSubscribers(request, from: connection, at: now, into: &effects)
        case .sessions(let account):
            listSessions(of: account, from: connection, at: now, into: &effects)
        case .kick(let request):
            kick(request, from: connection, at: now, into: &effects)
        case .stats:
            effects.answer(connection, .stats(currentStats))
        }
    }
}

extension Effects {
    /// Answers the request that `connection` waits for.
    mutating func answer(_ connection: ConnectionID, _ answer: Answer) {
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
}
