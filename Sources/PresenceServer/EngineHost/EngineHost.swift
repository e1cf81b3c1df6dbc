// The engine and what belongs to it, for any number of connection loops. Its input comes from the
// loops (`take`), the store and the verification of tokens (`report`) and the clock (`advance`);
// its output goes to the store and, sorted by loop, into `output`.
//
//     requests → permission → credentials or room → engine → effects     +Requests, +Logins
//     effects → writes for the store, frames, and a part for each loop  +Output, +Records

import Connections
import Containers
import EventLoop
import Logging
import PresenceCore
import PresenceStore
import PresenceWire

/// Owns the engine, on one thread.
///
/// It is a value, and there is one: the compiler proves exclusive access to its properties.
struct EngineHost<Disk: Persistence, Resources: ProcessResources>: ~Copyable {
    private(set) var configuration: Configuration
    let store: Disk
    let resources: Resources
    let logger: Logger
    let loops: LoopCount
    /// When bytes of each connection last arrived, for each loop.
    let heard: [HeardTable]

    var engine: Engine
    /// Output for the loops that has not been handed over.
    var output: HostOutput
    /// How the loops in process are reached.
    private(set) var boxesInProcess: [LinkBox] = []
    /// How far connection loops are behind.
    var stalled: StalledLoops
    /// Whether large fan-outs wait until the loops have written more.
    var areFanOutsHeld = false
    /// Whether slices of them were carried out since the last end of a turn.
    private var hasNewSlices = false
    /// When those before are written, if the connection loop is inline.
    private var slicesWrittenAt = 0
    /// Whether deadlines of the engine that have passed are left for the next turn.
    private var areDeadlinesLeft = false
    var submissions: [Submission] = []
    /// Frames of large fan-outs in progress.
    var kept: [FanOutID: KeptEvent] = [:]

    var logins: LoginAdmission
    var tokens = TokenVerification()
    var passwords: PasswordTasks
    /// The cards of accounts, without their contents.
    var cards = Cards()
    /// Contents of messages that are being read.
    var messageReads = StoreReads<[MessageID]>()
    /// Contents of messages that wait for the store, by the number of the ticket; the engine bounds
    /// them. They are handed out from here.
    var messagesInFlight: [UInt64: MessageContentRow] = [:]
    /// Failed logins of each network.
    var failedLogins: NetworkBuckets
    /// The feed, while it has readers or had one recently.
    var feed: Feed?
    /// Who reads what no device has taken in time.
    var undelivered = UndeliveredReaders(identity: 0)
    var questions = Questions()
    /// How often accounts are asked by others, and how often XMPP clients prove to be them: the
    /// engine may not know these accounts.
    var requestPaces = SharedTokenBuckets<[UInt8], AccountHandle>(countMax: 65_536)
    var authentications = TokenBuckets<[UInt8]>()
    /// How often accounts read cards.
    var cardPaces = TokenBuckets<[UInt8]>()
    var relayed = RelayedPaces()
    var relayedRequests = RelayedRequests()
    var memory: MemoryReturn
    var retryDelay: RetryDelay
    var counters = ServiceCounters()
    var rates: Rates
    /// When the service started, by its own clocks.
    let begun: Moment

    /// Loops that have no connections any more, at the end.
    var finishedLoopCount = 0

    private(set) var phase = Phase.starting
    var ready: () -> Void = {}
    /// Whether the last write that was answered has failed.
    private var isWriteFailing = false
    /// Why the service ended by itself.
    var serviceError: ServiceError?

    /// The phase of the service.
    enum Phase: Equatable {
        /// The first block of numbers is not yet durable. To: `listening`, `stopped`.
        case starting
        /// The port is about to accept connections. To: `serving`, `stopped`.
        case listening
        /// To: `stopping`.
        case serving
        /// New requests are rejected; those in progress are answered. To: `farewell`.
        case stopping
        /// Every connection is being closed. To: `stopped`.
        case farewell
        case stopped

        func mayBecome(_ next: Phase) -> Bool {
            switch (self, next) {
            case (.starting, .listening), (.starting, .stopped): true
            case (.listening, .serving), (.listening, .stopped): true
            case (.serving, .stopping), (.stopping, .farewell), (.farewell, .stopped): true
            default: false
            }
        }
    }

    /// Enters a phase.
    mutating func enter(_ next: Phase) {
        precondition(phase.mayBecome(next), "a service that is \(phase) becomes \(next)")
        phase = next
    }

    init(
        _ configuration: Configuration, engine: consuming Engine, heard: [HeardTable],
        store: Disk, resources: Resources, logger: Logger, seed: UInt64, feed log: FeedLog? = nil,
        at now: Moment
    ) {
        self.configuration = configuration
        self.engine = engine
        self.store = store
        self.resources = resources
        self.logger = logger
        self.heard = heard
        loops = LoopCount(heard.count)
        output = HostOutput(loops: heard.count)
        stalled = StalledLoops(loops: heard.count)
        logins = LoginAdmission()
        passwords = PasswordTasks(seed: seed)
        failedLogins = NetworkBuckets(seed: seed)
        memory = MemoryReturn()
        retryDelay = RetryDelay(seed: seed)
        rates = Rates(begun: now.mono)
        begun = now
        if let log { resumeFeed(log, at: now.mono) }
    }

    /// Replaces the configuration by one with the same settings of the start. Connections above a
    /// new limit are kept.
    mutating func apply(_ new: Configuration, at now: Moment) {
        configuration = new
        configuration.checkRelations()
        memory.forgetLimit()
        engine.apply(configuration.engine, into: &output.shared.effects)
        output.appendToAll(.configure(configuration))
        sort(at: now)
        for box in boxesInProcess {
            output.append(.configure(configuration), toLoopInProcess: box.loop)
        }
    }

    /// Adds a loop in process, for as long as the service lives.
    mutating func add(_ box: LinkBox) {
        guard phase != .stopped else { return box.close() }
        boxesInProcess.append(box)
        // There may have been a reload since its configuration was copied.
        output.append(.configure(configuration), toLoopInProcess: box.loop)
    }

    /// The service has ended: nothing is taken from loops in process any more.
    func closeBoxes() {
        for box in boxesInProcess { box.close() }
    }

    /// Makes the first block of numbers durable; clients are accepted when it is.
    mutating func begin(
        cleaning: StoreCleaning = .ofExpired, at now: Moment, ready: @escaping () -> Void
    ) {
        self.ready = ready
        _ = engine.begin(into: &output.shared.effects)
        if cleaning == .ofExpired {
            submissions.append(
                Submission(write: .removeExpired(before: now.wall.milliseconds)))
            forgetAbandonedCards()
        }
        sort(at: now)
        submit()
    }

    // MARK: Turns

    /// The stalled connection loops: they are not handed events.
    var stalledLoops: LoopSet { stalled.loops }

    /// Does what is due, once the input of a turn has been taken in.
    mutating func advance(to now: Moment, heardUpTo: Mono) {
        guard phase != .stopped else { return }
        areDeadlinesLeft = false
        if let wake = engineDeadline, wake <= heardUpTo {
            let progress = engine.advance(
                to: now, dueBy: heardUpTo,
                deadlinesMax: configuration.connection.deadlinesPerTurn,
                into: &output.shared.effects)
            areDeadlinesLeft = progress == .moreIsDue
            sort(at: now)
        }
        continueFanOuts(at: now)
        if let due = feed?.checkAt, due <= heardUpTo { maintainFeed(at: now.mono) }
        maintainMemory(at: now.mono, heardUpTo: heardUpTo)
        askNextQuestion()
        answerWithoutStalledLoops(at: now)
        submit()
        wakeFeedReaders(at: now)
        wakeUndeliveredReaders(at: now)
    }

    private mutating func continueFanOuts(at now: Moment) {
        guard !areFanOutsHeld else { return }
        if engine.hasFanOuts { hasNewSlices = true }
        engine.continueFanOuts(
            subscribersMax: configuration.connection.subscribersPerTurn,
            receiversMax: configuration.connection.receiversPerTurn * loops.count,
            into: &output.shared.effects)
        sort(at: now)
    }

    /// Has large fan-outs wait until the connection loop, which is inline, has written their last
    /// slices: so other connections are written to in between.
    mutating func holdFanOuts(_ progress: WriteProgress) {
        if hasNewSlices { slicesWrittenAt = progress.queued }
        hasNewSlices = false
        areFanOutsHeld = progress.written < slicesWrittenAt
    }

    /// Ends a turn.
    mutating func endTurn(at now: Moment) {
        guard phase != .stopped else { return }
        submit()
        continueStopping()
        // Reading the number of the last event copies the engine, so only if it is needed.
        if memory.isIdle { memory.schedule(at: now.mono, lastSeq: engine.lastSeq) }
        noteRates(at: now.mono)
    }

    /// Whether there is work that waits for nothing: `advance` is to be called at once.
    var isBusy: Bool {
        // What holds them back calls when it does so no longer.
        let areFanOutsDue = engine.hasFanOuts && !areFanOutsHeld
        return areDeadlinesLeft || areFanOutsDue || questions.isWaiting
            || feed?.hasMoreForReadyReaders == true
    }

    /// When `advance` is to be called next.
    func nextDeadline(at now: Moment) -> Mono? {
        if isBusy || isUndeliveredDue(at: now.mono) { return now.mono }
        var next = Mono(milliseconds: .max)
        if let deadline = engineDeadline { next = min(next, deadline) }
        if let deadline = feed?.checkAt { next = min(next, deadline) }
        if let deadline = undelivered.nextDeadline(after: now.mono) { next = min(next, deadline) }
        if let deadline = memory.nextDeadline { next = min(next, deadline) }
        return next.milliseconds == .max ? nil : next
    }

    /// When the engine will have something to do. Never, before clients are accepted and once all
    /// connections are being closed.
    var engineDeadline: Mono? {
        phase == .serving || phase == .stopping ? engine.nextWake : nil
    }

    /// Hands the turn's writes to the store.
    mutating func submit() {
        guard !submissions.isEmpty else { return }
        // Handed over whole: its memory is the store's now.
        var batch: [Submission] = []
        batch.reserveCapacity(submissions.count)
        swap(&batch, &submissions)
        store.submit(batch)
    }

    // MARK: The store

    /// Passes the outcomes of writes to the engine.
    mutating func report(_ outcomes: [Outcome], at now: Moment) {
        for outcome in outcomes { report(outcome, at: now) }
    }

    /// Passes the outcome of a write to the engine.
    mutating func report(_ outcome: Outcome, at now: Moment) {
        note(outcome, at: now)
        sort(at: now)
        guard outcome.ticket.kind == .engine, !messagesInFlight.isEmpty else { return }
        messagesInFlight[outcome.ticket.number] = nil
    }

    /// Passes the results of reads to the requests that wait for them.
    mutating func report(_ outcomes: [ReadOutcome], at now: Moment) {
        for outcome in outcomes {
            switch outcome.result {
            case .credential(let row): reportKeys(row, of: outcome.token, at: now)
            case .card(let content): reportCard(content, of: outcome.token)
            case .messages(let rows):
                reportMessages(rows, for: ConnectionID(token: outcome.token), at: now)
            case .undelivered(let rows): reportUndelivered(rows, of: outcome.token, at: now)
            }
            sort(at: now)
        }
    }

    private mutating func note(_ outcome: Outcome, at now: Moment) {
        let number = outcome.ticket.number
        switch outcome.ticket.kind {
        case .engine: noteChange(Ticket(number: number), outcome.result, at: now)
        case .password: reportPassword(number, outcome.result)
        case .card: reportCard(number, outcome.result)
        case .reader: preconditionFailure("an outcome of `StoredReaders`")
        }
    }

    private mutating func noteChange(
        _ ticket: Ticket, _ result: Outcome.Result, at now: Moment
    ) {
        switch result {
        case .committed:
            noteWritten()
            if ticket == .start { return startListening() }
            engine.committed(ticket, at: now, into: &output.shared.effects)
        case .reserved(let error):
            noteStoreFailure(.write, error)
            precondition(ticket == .start, "numbers that nothing waits for")
            startListening()
        case .failed(let error):
            noteStoreFailure(.write, error)
            guard ticket != .start else {
                serviceError = .storeWrite(error)
                return stop()
            }
            engine.failed(ticket, at: now, into: &output.shared.effects)
        }
    }

    /// Notes that the store could not do something.
    mutating func noteStoreFailure(_ access: StoreAccess, _ error: StoreError) {
        counters.storeFailures += 1
        if access == .write { isWriteFailing = true }
        let message: Logger.Message =
            switch access {
            case .read: "cannot read from the database"
            case .write: "cannot write to the database"
            }
        logger.log(.error, message, times: counters.storeFailures, error: error)
    }

    /// Notes that the store has written something.
    private mutating func noteWritten() {
        guard isWriteFailing else { return }
        isWriteFailing = false
        logger.notice("the database can be written to again")
    }

    private mutating func startListening() {
        guard phase == .starting else { return }
        enter(.listening)
        output.appendToFirst(.startListening)
    }

    /// The port accepts connections, or why it does not.
    mutating func listening(_ error: UVError?, at now: Moment) {
        // The service may have been stopped meanwhile.
        guard phase == .listening else { return }
        if let error {
            serviceError = .address(
                "\(configuration.host):\(configuration.port)", error, setting: "--listen")
            return stop()
        }
        enter(.serving)
        engine.beginReturns(at: now, secondsMin: secondsToServeReturns)
        output.appendToAll(.serve)
        ready()
    }

    /// Seconds in which all accounts that were online can have logged in again, twice the minimum.
    private var secondsToServeReturns: Int {
        guard let pace = configuration.admission.loginPace else { return 0 }
        return engine.currentStats.sessions / pace.perSecond * 2
    }
}

/// What the store may be unable to do.
enum StoreAccess {
    case read, write
}

/// Whether expired rows are removed from the store at startup.
enum StoreCleaning {
    case ofExpired
    /// The clock may be wrong: nothing is removed that would still be valid by the correct time.
    case none
}
