import Connections
import Containers
import EventLoop
import Logging
import Outboxes
import PresenceClient
import PresenceCore
import PresenceStore
import XML

@testable import PresenceServer

// Random, adversarial clients against the real frames, outboxes and engine, over a network and a
// disk that misbehave, in simulated time. One seed is one run, to the byte but for the ids of XMPP
// streams.
//
// Clients are native and XMPP, on the same accounts. What must hold is checked from outside, by
// what clients were told:
//     answers come in the order of requests; what is sent is JSON              SimulatedClient
//     nothing older follows something newer, also over reconnections and crashes  SimulatedClient
//     one event is the same for everybody who is told of it                     checkTruth
//     in the end everybody knows the newest state of all it watches             checkView
//     what was acknowledged is there after a crash, what ended is not           checkSubscriptions
//     both sides of every relationship agree, on the disk and in memory         checkRelations
//     who may not see an account is told nothing of it               checkSight, checkView
//     nobody is shown online longer than the bound, nobody offline who is not   checkPresence
//     what XMPP clients are sent is well-formed; answers are in order     SimulatedXMPPClient
//     an older presence of a device never follows a newer one             SimulatedSight
//     rosters, and the devices that each XMPP client knows, are the truth  checkXMPP
//     presence for one address is as it was sent, and ends once           DirectedSight
//     no device that has gone is shown at an address                      checkDirected
//     the right password is accepted and no other, by every mechanism     SimulatedPasswords
//     what was accepted waits until it is taken, and nothing else          MessageLedger
//     what is addressed to a device goes to no other while it is there          checkDetours
//     what is handed over has its reason, and is read once, in one order  SimulatedPusher
//     devices have what was answered, over crashes, and nothing else      DeviceLedger
//     the table of a backend that reads the feed is the truth                   checkTable
//     no outbox holds more than the formula says; the counters add up           checkMemory

/// A service, its clients and everything between them.
final class Simulation {
    let seed: UInt64
    var random: SplitMix64
    private(set) var configuration: Configuration
    /// The highest cap on watchers that there was; nil: there was none for a while.
    private(set) var subscribersMax: Int?
    let disk: SimulatedDisk
    private(set) var network = SimulatedNetwork()
    private(set) var service: SimulatedService
    /// The engine is reached over links that delay, with so many connection loops; nil: inline.
    private let loopCount: Int?
    private(set) var verifier = SimulatedVerifier()
    private(set) var passwordThread = SimulatedPasswordThread()
    var passwords = SimulatedPasswords()
    /// All that connect, whatever they speak.
    private(set) var peers: [SimulatedPeer] = []
    private(set) var clients: [SimulatedClient] = []
    private(set) var xmppClients: [SimulatedXMPPClient] = []
    /// What XMPP clients have sent to single addresses.
    let ledger = DirectedLedger()
    /// What clients have sent to accounts.
    let messageLedger = MessageLedger()
    /// What clients have set of devices.
    let deviceLedger = DeviceLedger()
    /// For how long no client of an account was logged in, up to now.
    private var absences: [String: UInt64] = [:]
    private(set) var violations: [String] = []
    private(set) var commandCount = 0
    private var turnCount = 0
    private var presenceCount = 0
    private var lastStart: UInt64 = 0
    /// By type, publisher and `seq`: the state that somebody was told first.
    private var told: [String: String] = [:]
    /// When each device's connection was last whole.
    private var lastWhole: [String: UInt64] = [:]

    init(seed: UInt64, loopCount: Int? = nil, canary: SimulatedDisk.Canary = .none) {
        self.seed = seed
        self.loopCount = loopCount
        random = SplitMix64(seed: seed)
        let configuration = Self.someConfiguration(&random)
        self.configuration = configuration
        subscribersMax = configuration.engine.subscribersPerPublisherMax
        disk = SimulatedDisk(canary: canary)
        service = Self.start(configuration, network, disk, loopCount, seed)
        begin()
        for account in accounts {
            for device in ["x", "y"] {
                clients.append(client(account, device))
            }
        }
        clients += ["backend-1", "backend-2"].map { client($0, "r", .feedReader) }
        clients += ["pusher-1", "pusher-2"].map { client($0, "r", .pusher) }
        // Devices of both kinds, and two clients that take one from each other.
        clients.append(client("ann", "p"))
        let reader = XMLReader(hashSalt: 1)
        let salted = SaltedPasswords()
        let names = ["ann/p", "ann/q", "ben/p", "cid/p", "dot/p", "dot/p"]
        xmppClients = names.enumerated().map { number, name in
            SimulatedXMPPClient(
                account: String(name.prefix(3)), device: String(name.suffix(1)), number: number,
                reader: reader, ledger: ledger, salted: salted, messages: messageLedger)
        }
        peers = clients + xmppClients
    }

    private func client(
        _ account: String, _ device: String, _ role: SimulatedClient.Role = .device
    ) -> SimulatedClient {
        SimulatedClient(
            account: account, device: device, role: role, ledger: messageLedger,
            labels: deviceLedger, disk: disk)
    }

    private static let turnsPerInvariants = 16

    /// The types that are watched and published.
    static let types: [Int64] = [1, 100, 101, 102]

    /// Whose devices there are.
    let accounts = ["ann", "ben", "cid", "dot", "eve", "fay"]

    private static func start(
        _ configuration: Configuration, _ network: SimulatedNetwork, _ disk: SimulatedDisk,
        _ loopCount: Int?, _ seed: UInt64, feed kept: [UInt8]? = nil
    ) -> SimulatedService {
        var clock = ServiceClock(
            mono: network.monotonicMilliseconds, wall: network.wallMilliseconds)
        let now = clock.moment(
            mono: network.monotonicMilliseconds, wall: network.wallMilliseconds)
        var reader = EngineReader(
            engine: Engine(settings: configuration.engine, at: now, seed: 7), now: now)
        let limits = configuration.feed
        let feed = try? kept.flatMap {
            try FeedLog(
                $0, stamp: 1, bytesMax: limits.feedBytesMax, seconds: limits.feedSeconds, at: now)
        }
        reader.engine.setFeed(feed == nil ? .off : .on)
        disk.load(&reader)
        var logger = Logger(label: "simulator")
        logger.logLevel = .critical
        return SimulatedService(
            configuration, engine: reader.finish(), clock: clock, network: network, disk: disk,
            logger: logger, feed: feed, loopCount: loopCount, seed: seed)
    }

    private func begin() {
        lastStart = now
        // Sessions from before may return.
        let awaited = Set(
            disk.durable.sessions.keys.map { String(decoding: $0.account, as: UTF8.self) })
        messageLedger.noteAllAway(accounts.filter { !awaited.contains($0) })
        verifier = SimulatedVerifier()
        passwordThread = SimulatedPasswordThread()
        let stored = StoredPasswords(count: disk.durable.credentials.count, secret: [1])
        service.withHost { host, _ in
            host.cards = Cards(
                stored: disk.summariesOfCards, host.engine, configuration.engine,
                at: host.begun.wall)
            if configuration.passwords != .only { host.tokens.verifier = verifier }
            host.passwords = PasswordTasks(stored: stored, seed: seed, thread: passwordThread)
        }
        service.begin()
        service.turnEnded()
        service.withHost { host, now in host.report(disk.settle(isFailing: false), at: now) }
        service.turnEnded()
        service.settleLinks()
    }

    var now: UInt64 { network.monotonicMilliseconds }

    func violation(_ what: String) {
        if violations.count < 10 { violations.append("seed \(seed), at \(now): \(what)") }
    }

    func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

    // MARK: Steps

    /// Something happens.
    func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: act()
        case 45..<60: deliverSome()
        case 60..<75: readSome()
        case 75..<83: settleDisk()
        case 83..<88:
            verifySome()
            deriveSome()
        case 88..<97: pass(milliseconds: UInt64.random(in: 1...3_000, using: &random))
        case 97: pass(milliseconds: UInt64.random(in: 1...90_000, using: &random))
        case 98: if chance(6) { jumpClock() } else if chance(6) { reload() }
        default: if chance(4) { restart(chance(2) ? .inOrder : .afterCrash) }
        }
        endTurn()
    }

    /// How the disk is.
    enum Health {
        case asItIs
        case sound
    }

    /// The disk reports. Who waited for it could not be heard meanwhile, dead or alive.
    func settleDisk(_ health: Health = .asItIs) {
        for peer in peers where peer.stream != nil && peer.isWaiting || peer.hasLeftUnanswered {
            lastWhole[peer.name] = now
        }
        let isFailing = health == .asItIs && chance(8)
        let lies = health == .asItIs && chance(3)
        service.withHost { host, now in
            host.report(disk.settle(isFailing: isFailing, lies: lies), at: now)
            // After the outcomes of what was submitted before.
            let before = messageLedger.tick()
            host.report(disk.answerReads(isFailing: isFailing), at: now)
            noteUndelivered(host.undelivered.readers.map(\.number), since: before)
        }
        // A change may have waited for another, and be on its way to the disk only now.
        guard disk.isIdle, service.hub.host.engine.changesInFlight == 0 else { return }
        for peer in peers { peer.hasLeftUnanswered = false }
    }

    private func verifySome() {
        while !verifier.isIdle, !chance(3) { verifyOne() }
    }

    func verifyOne() {
        guard !verifier.isIdle else { return }
        // A session counts as heard when its token is found valid.
        noteWaitingAsWhole()
        let place = Int.random(in: 0..<100, using: &random)
        let result = verifier.verify(place, isFailing: chance(10))
        service.withHost { host, now in host.report([result], at: now) }
    }

    func noteWaitingAsWhole() {
        for peer in peers where peer.stream != nil && peer.isWaiting {
            lastWhole[peer.name] = now
        }
    }

    /// The service is told to read its settings again.
    private func reload() {
        var new = Self.someConfiguration(&random)
        // Fixed at the start.
        new.feed = configuration.feed
        new.access = configuration.access
        new.passwords = configuration.passwords
        new.xmpp = configuration.xmpp
        new.engine.restartGraceSeconds = configuration.engine.restartGraceSeconds
        new.engine.pushAfterSeconds = configuration.engine.pushAfterSeconds
        new.engine.evenClockSeconds = configuration.engine.evenClockSeconds
        new.engine.subscribersPerSlice = configuration.engine.subscribersPerSlice
        new.engine.limits.statesPerFrameMax = configuration.engine.limits.statesPerFrameMax
        new.connection.shares = configuration.connection.shares
        configuration = new
        let cap = new.engine.subscribersPerPublisherMax
        subscribersMax = subscribersMax.flatMap { old in cap.map { max($0, old) } }
        service.withHost { host, now in host.apply(new, at: now) }
    }

    func endTurn() {
        service.turnEnded()
        turnCount += 1
        // Each check goes over all tables, and what is wrong in one does not go away.
        if turnCount.isMultiple(of: Self.turnsPerInvariants) { service.checkInvariants() }
        for id in network.ids { settleStream(id) }
        for peer in peers where !peer.violations.isEmpty {
            peer.violations.forEach { violation("\(peer.name) \($0)") }
            peer.violations = []
        }
        for peer in peers { notePasswords(peer) }
        checkMemory()
    }

    private func settleStream(_ id: StreamID) {
        guard let stream = network.streams[id] else { return }
        let isOut = stream.isLingering && stream.pending.isEmpty
        guard stream.isClosed || isOut else { return }
        // What is on its way still arrives, unless the client is gone.
        if let peer = peer(on: id) {
            if !stream.isReset, !peer.isDead { receive(stream.toClient, by: peer) }
            peer.connectionEnded()
        }
        network.remove(id)
        service.streamClosed(id)
    }

    func pass(milliseconds: UInt64) {
        let end = now + milliseconds
        service.settleLinks()
        while let wake = service.nextWake, wake < end {
            tick(to: max(wake, now + 1))
            endTurn()
            service.settleLinks()
        }
        tick(to: max(end, now))
    }

    private func tick(to end: UInt64) {
        network.wallMilliseconds += Int64(end - now)
        noteAbsences(end - now)
        network.monotonicMilliseconds = end
        for peer in peers { keepAlive(peer) }
    }

    /// Clients that are well give a sign of life long before the heartbeat is over.
    private func keepAlive(_ peer: SimulatedPeer) {
        guard let id = peer.stream, peer.isLoggedIn, !peer.isDead, now - peer.lastAlive > 15_000
        else { return }
        noteAlive(peer)
        let stream = network.streams[id]
        if stream?.toServer.isEmpty == true, stream?.isReading == true {
            let sign = peer.webSocket == nil ? peer.signOfLife : SimulatedWebSocket.signOfLife
            service.receive(sign.span.bytes, from: id)
        }
    }

    /// An account that has not been used for a minute may be forgotten, with its devices.
    private func noteAbsences(_ milliseconds: UInt64) {
        for account in accounts {
            let isHere = peers.contains { $0.isLoggedIn && $0.account == account }
            let absence = isHere ? 0 : absences[account, default: 0] + milliseconds
            absences[account] = absence
            if absence > 55_000 { deviceLedger.noteForgotten([account]) }
        }
    }

    private func noteAlive(_ peer: SimulatedPeer) {
        peer.lastAlive = now
        lastWhole[peer.name] = now
    }

    private func peer(on id: StreamID) -> SimulatedPeer? { peers.first { $0.stream == id } }

    /// Since then what an answer said of times by the wall clock does not hold any more.
    private(set) var hasClockJumped = false

    private func jumpClock() {
        hasClockJumped = true
        messageLedger.noteJump()
        // One that is away may be forgotten at once.
        for account in accounts { absences[account, default: 0] += 60_000 }
        deviceLedger.noteForgotten(accounts)
        network.wallMilliseconds += Int64.random(in: -7_200_000...7_200_000, using: &random)
    }

    // MARK: Crash

    private enum End { case inOrder, afterCrash }

    /// The service ends and comes back.
    private func restart(_ end: End) {
        var feed: [UInt8]?
        switch end {
        case .afterCrash:
            disk.crash()
            messageLedger.crash()
            // How a device is shown is not durable.
            for client in xmppClients { client.sight.forgetOrder() }
        case .inOrder:
            service.settleLinks()
            while !disk.isIdle {
                settleDisk(.sound)
                endTurn()
                service.settleLinks()
            }
            service.withHost { host, now in
                feed = host.feed?.log.encoded(stamp: 1, at: now)
            }
        }
        for id in network.ids {
            if let peer = peer(on: id) {
                lastWhole[peer.name] = now
                peer.connectionEnded()
            }
        }
        let before = network
        let absence = end == .afterCrash ? 500 : UInt64.random(in: 1...100_000, using: &random)
        network = SimulatedNetwork()
        network.monotonicMilliseconds = before.monotonicMilliseconds + absence
        network.wallMilliseconds = before.wallMilliseconds + Int64(absence)
        noteAbsences(absence)
        ledger.restart()
        service = Self.start(configuration, network, disk, loopCount, seed, feed: feed)
        begin()
    }

    // MARK: Network

    private func deliverSome() {
        for id in network.ids where chance(2) {
            deliver(id, bytesMax: Int.random(in: 1...400, using: &random))
        }
    }

    func deliver(_ id: StreamID, bytesMax: Int) {
        guard let stream = network.streams[id], stream.isReading, !stream.isClosed else { return }
        let bytes = Array(stream.toServer.prefix(bytesMax))
        if !bytes.isEmpty {
            _ = network.withStream(id) { $0.toServer.removeFirst(bytes.count) }
            if let peer = peer(on: id) { noteAlive(peer) }
            service.receive(bytes.span.bytes, from: id)
        } else if stream.hasClientFinished, !stream.isEndTold {
            _ = network.withStream(id) { $0.isEndTold = true }
            service.streamEnded(id, .endOfFile)
        }
    }

    private func readSome() {
        for peer in peers where !peer.isStalled && chance(2) {
            read(peer, bytesMax: Int.random(in: 1...2_000, using: &random))
        }
    }

    func read(_ peer: SimulatedPeer, bytesMax: Int) {
        guard let id = peer.stream, !peer.isDead else { return }
        let (bytes, isDrained) = network.read(id, bytesMax: bytesMax)
        receive(bytes, by: peer)
        send(peer.takeReplies(), on: id)
        if isDrained { service.streamDrained(id) }
    }

    private func receive(_ bytes: [UInt8], by peer: SimulatedPeer) {
        guard let webSocket = peer.webSocket else { return peer.receive(bytes) }
        peer.receive(webSocket.receive(bytes))
        peer.violations += webSocket.takeViolations()
        let replies = webSocket.takeReplies()
        _ = peer.stream.map { id in network.withStream(id) { $0.toServer += replies } }
    }

    /// Has bytes of a client be on their way.
    func send(_ bytes: [UInt8], on id: StreamID) {
        guard !bytes.isEmpty else { return }
        let carried = peer(on: id)?.webSocket?.send(bytes) ?? bytes
        _ = network.withStream(id) { $0.toServer += carried }
    }

    // MARK: Checks

    /// What one client was told of an event, everybody is told.
    func checkTruth(_ client: SimulatedClient) {
        for (topic, state) in client.view {
            // What is hidden from one is shown to another with the same number.
            if state.isOfUnknown { continue }
            let seq = state["seq"]?.integer ?? 0
            let words = [
                state["online"]?.text, state["status"]?["value"]?.text, state["lastSeen"]?.text,
            ].map { $0 ?? "-" }.joined(separator: " ")
            let key = "\(topic)#\(seq)"
            // Of a state that is read later, the number is the same; so must be what it says.
            if let before = told[key], before != words, state["cause"] != "sync" {
                violation("\(key) is \(before) and \(words)")
            }
            if told[key] == nil { told[key] = words }
        }
    }

    func wholeSince(_ device: String) -> UInt64 { lastWhole[device] ?? 0 }
    var startedAt: UInt64 { lastStart }
    func count() { commandCount += 1 }
    /// The number of another presence.
    func nextPresence() -> Int {
        presenceCount += 1
        return presenceCount
    }

    func open(
        _ peer: SimulatedPeer, on listener: ListenerKind = .native, roomBytes: Int? = nil
    ) -> StreamID {
        let id = network.open(
            roomBytes: roomBytes ?? Int.random(in: 200...4_000, using: &random))
        peer.stream = id
        messageLedger.noteConnecting(peer.account)
        peer.lastAlive = now
        service.accept(id, on: listener)
        return id
    }
}
