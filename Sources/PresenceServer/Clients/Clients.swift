// The clients of a loop: their connections in a table, and the protocol that each speaks. Bytes
// become requests for the engine host, and what the engine host has for a client becomes bytes.
//
// A client has one request in progress at a time: responses come in the order of requests, and each
// request sees the effects of the one before it. Requests that arrive in the meantime wait in the
// splitter of its protocol, and beyond the size of a frame in the kernel.
//
// The protocols are in folders beside each other, with the same functions: input, answers, events,
// ending. `Clients+Protocol.swift` chooses between them.

import Connections
import Containers
import EventLoop
import Logging
import Outboxes
import PresenceCore
import PresenceWire
import PresenceXMPP

/// The clients of a loop, on the loop's thread.
struct Clients: ~Copyable {
    var configuration: Configuration
    let number: LoopNumber
    let transport: any Transport
    let logger: Logger
    private var clock: ServiceClock
    /// The loop's phase.
    var phase = LoopPhase.starting
    var table: ConnectionTable
    /// By slot: the protocol that a client speaks. The table knows none.
    var protocols: [ClientProtocol] = []
    /// By slot: a hash of the account of a client, to count what is its; zero before the login.
    /// Accounts may share one.
    private(set) var accountHashes: [UInt32] = []
    /// What the engine host has not been handed yet.
    var inbound = Inbound()
    var decoder: RequestDecoder
    /// Reused for messages that cannot be read where they arrived: those of a WebSocket are masked.
    var unmasked: [UInt8] = []
    /// Reused for presences that many are sent.
    var stanzas = DomainStanzas()
    /// What may still be carried out in this turn.
    var budget = TurnBudget()
    /// Large messages that are not complete.
    var largeInputs = LargeInputs()
    var admission: Admission
    /// What all XMPP clients use; nil: XMPP is not served.
    var xmpp: XMPPService?
    var counters = ServiceCounters()

    init(
        _ configuration: Configuration, number: LoopNumber, clock: ServiceClock,
        transport: any Transport, heard: HeardTable, admission: consuming Admission, logger: Logger
    ) {
        self.configuration = configuration
        self.number = number
        self.clock = clock
        self.transport = transport
        self.logger = logger
        self.admission = admission
        decoder = RequestDecoder(limits: configuration.engine.limits)
        let begun = Mono(milliseconds: clock.shifted(transport.monotonicMilliseconds))
        xmpp = XMPPService(configuration, at: begun)
        table = ConnectionTable(
            transport, configuration.connection.ofOutput(number),
            shares: configuration.connection.shares, heard: heard,
            variantCount: EventVariant.count(domains: xmpp?.domains.count ?? 0), at: begun)
    }

    /// Replaces the configuration.
    mutating func apply(_ new: Configuration) {
        configuration = new
        table.limits = new.connection.ofOutput(number)
        decoder.apply(new.engine.limits)
        xmpp?.apply(new.engine.limits)
        transport.use(new.tls?.context, ofListeners: new.contextsOfListeners)
        for slot in table.indices where table.phase(of: slot) == .serving { applied(to: slot) }
    }

    // MARK: Time

    /// The current time by both clocks.
    mutating func now() -> Moment {
        clock.moment(mono: transport.monotonicMilliseconds, wall: transport.wallMilliseconds)
    }

    /// A time of the service's clock, which may be shifted, by that of the loop.
    func loopMilliseconds(of time: Mono) -> UInt64 { clock.unshifted(time.milliseconds) }

    // MARK: Names

    /// The slot of a connection, if it is still there.
    func slot(of connection: ConnectionID) -> Int? {
        table.slot(of: number.stream(connection))
    }

    /// Whether a connection is still sent what it has asked for. One that is closing has been sent
    /// its last frame.
    func isServed(_ slot: Int) -> Bool {
        switch table.phase(of: slot) {
        case .serving, .ending: true
        case .free, .anonymous, .closing: false
        }
    }

    /// The name that the engine knows of the connection in a slot.
    func connectionID(_ slot: Int) -> ConnectionID {
        number.connection(table.id(of: slot))
    }

    /// Where a connection comes from.
    func origin(of slot: Int) -> ConnectionOrigin {
        ConnectionOrigin(
            address: Array((transport.peerAddress(of: table.id(of: slot)) ?? "").utf8),
            network: admission.network(table.address(of: slot)))
    }

    // MARK: Their beginning

    /// Notes the account of a client that has logged in.
    mutating func setAccount(of slot: Int, _ name: some Sequence<UInt8>) {
        var hasher = Hasher()
        for byte in name { hasher.combine(byte) }
        accountHashes[slot] = UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// Begins a connection, which is not read from yet.
    mutating func open(_ id: StreamID, on listener: ListenerKind) -> Int {
        let slot = table.open(id)
        while protocols.count <= slot {
            protocols.append(.none)
            accountHashes.append(0)
        }
        protocols[slot] = .undecided
        accountHashes[slot] = 0
        counters.accepted += 1
        if listener.isXMPP { beginXMPP(slot, isEncrypted: listener.isEncrypted) }
        return slot
    }

    /// Reads from a new connection, and sets the time within which it must log in.
    mutating func listenForLogin(of slot: Int) {
        setDeadline(of: slot, afterSeconds: loginSeconds(of: slot))
        table.startReading(slot)
    }

    /// A connection has logged in.
    mutating func beginServing(_ slot: Int) {
        guard table.phase(of: slot) == .anonymous else { return }
        table.beginServing(slot)
        let now = now().mono
        table.watchSilence(of: slot, patience(of: slot), at: now)
    }

    /// Sets the time by which the phase of a connection must have ended.
    mutating func setDeadline(of slot: Int, afterSeconds seconds: Int) {
        let now = now().mono
        table.setDeadline(of: slot, to: now.advanced(bySeconds: seconds))
    }

    // MARK: Tokens

    /// Has a session end when its token does. A client that reconnects within the grace with a new
    /// token causes no event.
    mutating func limit(_ slot: Int, to term: TokenTerm) {
        table.setToken(of: slot, until: now().mono(at: term.honouredUntil))
    }

    /// The token of a session has expired, and no new one is being verified.
    mutating func tokenEnded(of slot: Int) {
        guard table.phase(of: slot) == .serving else { return }
        counters.tokensExpired += 1
        close(slot, .tokenExpired)
    }

    // MARK: Their requests

    /// The request that a client waited for is done; the next may follow.
    mutating func settle(_ slot: Int) {
        noteAnswered(slot)
        if table.endRefresh(of: slot) { tokenEnded(of: slot) }
        guard table.phase(of: slot) == .ending else { return resumeIfPaused(slot) }
        endIfServed(slot)
    }

    /// The request of a client has been answered; the answer is to be written.
    mutating func noteAnswered(_ slot: Int) {
        protocols[slot].stopWaiting()
        table.markDirty(slot)
    }

    /// What a client was answered is not what it has asked. That is a defect of the service; the
    /// connection ends, since it would wait, unread, for good.
    mutating func endMismatched(_ slot: Int) {
        guard table.phase(of: slot) != .closing else { return }
        counters.answersMismatched += 1
        logger.log(
            .error, "an answer to no request; the connection is closed",
            times: counters.answersMismatched, metadata: [:])
        close(slot, .overloaded)
    }
}

/// The phase of a connection loop.
enum LoopPhase: Equatable {
    /// It does not accept connections. To: `serving`, `stopped`.
    case starting
    /// To: `farewell`.
    case serving
    /// Every connection is being closed. To: `finished`.
    case farewell
    /// There is no connection any more. To: `stopped`.
    case finished
    case stopped

    /// Whether connections that end, end their sessions: not those that a shutdown closes.
    var endsSessions: Bool { self == .starting || self == .serving }

    func mayBecome(_ next: LoopPhase) -> Bool {
        switch (self, next) {
        case (.starting, .serving), (.starting, .stopped): true
        case (.serving, .farewell), (.farewell, .finished), (.finished, .stopped): true
        default: false
        }
    }
}

extension EventVariant {
    /// Messages of a WebSocket; native frames are `.plain`.
    static let webSocket = EventVariant(1)

    /// Elements of XMPP as messages of a WebSocket. They are not shared: a message has its length
    /// at its beginning, which differs with the JID of the receiver.
    static let webSocketOfXMPP = EventVariant(2)

    /// Stanzas that are counted for each receiver (XEP-0198), and thus not shared.
    static let countedStanzas = EventVariant(3)

    /// Whether it is one of an XMPP client.
    var isXMPP: Bool { self == .webSocketOfXMPP || self == .countedStanzas || domain != nil }

    /// Whether it is one of a WebSocket.
    var isWebSocket: Bool { self == .webSocket || self == .webSocketOfXMPP }

    /// Presences for clients of one of the service's domains.
    static func presences(atDomain place: Int) -> EventVariant {
        EventVariant(UInt16(firstOfDomains + place))
    }

    /// The place of that domain; nil for other clients.
    var domain: Int? {
        number < Self.firstOfDomains ? nil : Int(number) - Self.firstOfDomains
    }

    private static let firstOfDomains = 4

    /// How many variants there are.
    static func count(domains: Int) -> Int { firstOfDomains + domains }
}

extension ConnectionLimits {
    /// The limits for outboxes of one loop.
    func ofOutput(_ number: LoopNumber) -> OutputLimits {
        OutputLimits(
            outboxBytesMax: outboxBytesMax, backlogBytesMax: backlogBytesMax,
            bytesInAllMax: number.share(of: outboxBytesInAllMax),
            socketBytes: 2 * Loop.kernelOutputBytes,
            progressSeconds: progressSeconds, outboxesPerTurn: outboxesPerTurn,
            flushFraction: flushFraction)
    }
}
