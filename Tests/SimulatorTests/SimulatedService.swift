import Connections
import Containers
import EventLoop
import Logging
import PresenceCore
import PresenceStore

@testable import PresenceServer

// An engine host and its connection loops, over a link that is inline, or that holds back what goes
// in both directions for as long as a seed says. Each direction of each loop keeps its order.

/// How the loops reach the engine host.
final class SimulatedHub {
    var host: EngineHost<SimulatedDisk, SimulatedNetwork>
    /// Whether the link is inline: then there is one loop.
    let isInline: Bool
    /// By loop: what is on its way to the engine host.
    fileprivate var up: [[Inbound]]
    /// By loop: what is on its way from it.
    fileprivate var down: [[SealedOutbound]]

    init(
        _ host: consuming EngineHost<SimulatedDisk, SimulatedNetwork>, loops: Int, isInline: Bool
    ) {
        precondition(!isInline || loops == 1)
        self.host = host
        self.isInline = isInline
        up = Array(repeating: [], count: loops)
        down = Array(repeating: [], count: loops)
    }
}

struct SimulatedLink: EngineLink {
    let hub: SimulatedHub
    let index: Int

    mutating func exchange(
        _ inbound: inout Inbound, into outbound: inout Outbound, at now: Moment
    ) -> Int {
        guard hub.isInline else {
            hub.up[index].append(inbound)
            inbound = Inbound()
            return 0
        }
        hub.host.take(inbound, at: now)
        inbound.removeAll()
        let work = hub.host.output.takeWork()
        hub.host.handOver(into: &outbound)
        return work
    }

    mutating func advance(to now: Moment, heardUpTo: Mono, into outbound: inout Outbound) {
        guard hub.isInline else { return }
        hub.host.advance(to: now, heardUpTo: heardUpTo)
        hub.host.handOver(into: &outbound)
    }

    mutating func endTurn(
        at now: Moment, _ progress: WriteProgress, into outbound: inout Outbound
    ) {
        guard hub.isInline else { return }
        hub.host.holdFanOuts(progress)
        hub.host.endTurn(at: now)
        hub.host.handOver(into: &outbound)
    }

    func nextDeadline(at now: Moment) -> Mono? {
        hub.isInline ? hub.host.nextDeadline(at: now) : nil
    }
}

/// A service in the simulator.
final class SimulatedService {
    /// One connection loop.
    final class Loop {
        var value: ConnectionLoop<SimulatedSockets, SimulatedLink>

        init(_ value: consuming ConnectionLoop<SimulatedSockets, SimulatedLink>) {
            self.value = value
        }
    }

    let hub: SimulatedHub
    let loops: [Loop]
    /// A caller in process.
    private(set) lazy var caller = SimulatedCaller(self)
    private let network: SimulatedNetwork
    private var clock: ServiceClock
    private var random: SplitMix64
    private var deadlines: DeadlineGate
    /// No loop is taken for a stalled one.
    var isSteady = false {
        didSet { if isSteady { stall([]) } }
    }
    /// Which loop has a stream.
    private var loopOfStream: [StreamID: Int] = [:]

    /// `loopCount` nil: one, inline.
    init(
        _ configuration: Configuration, engine: consuming Engine, clock: ServiceClock,
        network: SimulatedNetwork, disk: SimulatedDisk, logger: Logger, feed: FeedLog?,
        loopCount: Int?, seed: UInt64
    ) {
        self.network = network
        self.clock = clock
        random = SplitMix64(seed: seed)
        let count = loopCount ?? 1
        let heard = (0..<count).map { _ in HeardTable() }
        let now = self.clock.moment(
            mono: network.monotonicMilliseconds, wall: network.wallMilliseconds)
        deadlines = DeadlineGate(at: now.mono)
        let hub = SimulatedHub(
            EngineHost(
                configuration, engine: engine, heard: heard, store: disk, resources: network,
                logger: logger, seed: 11, feed: feed, at: now),
            loops: count, isInline: loopCount == nil)
        self.hub = hub
        loops = heard.enumerated().map { index, heard in
            Loop(
                ConnectionLoop(
                    configuration, number: LoopNumber(index: index, of: count),
                    link: SimulatedLink(hub: hub, index: index), clock: clock,
                    loop: SimulatedSockets(network), heard: heard, logger: logger, seed: 12))
        }
    }

    private func now() -> Moment {
        clock.moment(mono: network.monotonicMilliseconds, wall: network.wallMilliseconds)
    }

    func begin() {
        withHost { host, now in host.begin(at: now) {} }
    }

    /// Tells the engine host something that does not come from connections.
    func withHost(_ body: (inout EngineHost<SimulatedDisk, SimulatedNetwork>, Moment) -> Void) {
        body(&hub.host, now())
        guard hub.isInline else { return sendDown() }
        var outbound = Outbound()
        hub.host.handOver(into: &outbound)
        loops[0].value.take(&outbound)
    }

    /// Lets the engine host take in what loops in process have handed over.
    func takeInProcess() {
        withHost { host, now in host.takeInProcess(at: now) }
    }

    // MARK: Streams

    private func loop(of id: StreamID) -> Loop { loops[loopOfStream[id] ?? 0] }

    private func assign(_ id: StreamID) -> Loop {
        let index = Int.random(in: loops.indices, using: &random)
        loopOfStream[id] = index
        loops[index].value.loop.streamCount += 1
        return loops[index]
    }

    func accept(_ id: StreamID, on listener: ListenerKind = .native) {
        assign(id).value.accept(id, on: listener)
    }

    func receive(_ bytes: RawSpan, from id: StreamID) {
        loop(of: id).value.receive(bytes, from: id)
    }

    func streamEnded(_ id: StreamID, _ end: StreamEnd) { loop(of: id).value.streamEnded(id, end) }
    func streamDrained(_ id: StreamID) { loop(of: id).value.streamDrained(id) }

    func streamClosed(_ id: StreamID) {
        let loop = loop(of: id)
        loop.value.loop.streamCount -= 1
        loop.value.streamClosed(id)
        loopOfStream[id] = nil
    }

    // MARK: Turns

    /// Every loop ends its turn; of what is on its way, some arrives.
    func turnEnded() {
        for loop in loops { loop.value.turnEnded() }
        guard !hub.isInline else { return }
        for index in loops.indices where Bool.random(using: &random) { takeUp(index) }
        if Bool.random(using: &random) { hostTurn() }
        for index in loops.indices where Bool.random(using: &random) { takeDown(index) }
    }

    /// Lets everything arrive that is on its way.
    func settleLinks() {
        guard !hub.isInline else { return }
        var isBusy = true
        while isBusy {
            isBusy = false
            stall([])
            for index in loops.indices {
                while takeUp(index) { isBusy = true }
            }
            hostTurn()
            for index in loops.indices {
                while takeDown(index) { isBusy = true }
            }
            for loop in loops { loop.value.turnEnded() }
            if hub.up.contains(where: { !$0.isEmpty }) { isBusy = true }
        }
        checkSessions()
    }

    @discardableResult private func takeUp(_ index: Int) -> Bool {
        guard !hub.up[index].isEmpty else { return false }
        hub.host.take(hub.up[index].removeFirst(), at: now())
        sendDown()
        return true
    }

    @discardableResult private func takeDown(_ index: Int) -> Bool {
        guard !hub.down[index].isEmpty else { return false }
        var outbound = hub.down[index].removeFirst().outbound
        loops[index].value.take(&outbound)
        return true
    }

    /// Now and then the engine host takes some loops for stalled ones, and withholds
    /// events from their connections.
    private func chooseStalledLoops() {
        guard loops.count > 1, !isSteady, Int.random(in: 0..<20, using: &random) == 0 else {
            return
        }
        let bits = UInt64.random(in: 0..<1 << UInt64(loops.count), using: &random)
        stall(LoopSet(loops.indices.filter { bits & 1 << UInt64($0) != 0 }))
    }

    /// Makes these loops stalled, and no others.
    private func stall(_ stalled: LoopSet) {
        for index in loops.indices {
            hub.host.stalled.release(index)
            if stalled.contains(index) { hub.host.stalled.stall(index) }
        }
    }

    private func hostTurn() {
        chooseStalledLoops()
        let now = now()
        deadlines.beginTurn(at: now.mono)
        hub.host.advance(to: now, heardUpTo: deadlines.heardUpTo)
        hub.host.endTurn(at: now)
        deadlines.endTurn(heardUpTo: now.mono)
        deadlines.wait(until: hostWake(at: now))
        sendDown()
    }

    private func sendDown() {
        for (index, outbound) in hub.host.handOver().enumerated() where !outbound.isEmpty {
            hub.down[index].append(outbound)
        }
    }

    /// When something is due.
    var nextWake: UInt64? {
        var times = loops.compactMap { $0.value.loop.armed }
        if !hub.isInline, let wake = hostWake(at: now()) { times.append(wake.milliseconds) }
        return times.min()
    }

    private func hostWake(at now: Moment) -> Mono? {
        hub.host.isBusy ? now.mono : deadlines.wake(for: hub.host.nextDeadline(at: now))
    }

    /// Whether nothing is left to do but to wait.
    var isAtRest: Bool {
        hub.up.allSatisfy(\.isEmpty) && hub.down.allSatisfy(\.isEmpty)
            && !loops.contains { $0.value.clients.table.hasOutput }
            && !loops.contains { $0.value.clients.table.hasInput }
            && !loops.contains { isPacing($0) }
            && hub.host.engine.currentStats.fanOuts == 0
    }

    /// Whether something that an XMPP client has sent waits for a rate limit.
    private func isPacing(_ loop: Loop) -> Bool {
        loop.value.clients.protocols.contains { $0.client?.paced.retryTime != nil }
    }

    /// How often connections were throttled.
    var throttleCount: Int { loops.reduce(0) { $0 + $1.value.clients.counters.throttled } }

    /// The engine has a session exactly for the connections that are served.
    private func checkSessions() {
        guard hub.host.phase == .serving || hub.host.phase == .stopping else { return }
        for loop in loops { checkSessions(of: loop) }
    }

    private func checkSessions(of loop: Loop) {
        for slot in loop.value.clients.table.indices { checkSession(in: slot, of: loop) }
    }

    private func checkSession(in slot: Int, of loop: Loop) {
        let phase = loop.value.clients.table.phase(of: slot)
        guard phase != .free else { return }
        let list = loop.value.clients.table.list(of: slot)
        precondition(list.isFeedReader || !list.hasAsked, "asked, no answer")
        let isKnown = hub.host.engine.owner(of: loop.value.clients.connectionID(slot)) != nil
        switch phase {
        case .free, .ending: break
        case .anonymous, .closing:
            precondition(!isKnown, "a session of a connection that is \(phase)")
        case .serving:
            // The session of an app server has no owner.
            let isClient = loop.value.clients.table.peer(of: slot) == .client
            precondition(isKnown == isClient, "served without a session")
        }
    }

    /// A large fan-out continues by itself, when nothing arrives.
    private func checkFanOuts() {
        guard hub.host.phase == .serving, hub.host.engine.hasFanOuts else { return }
        let now = now().mono.milliseconds
        precondition((nextWake ?? .max) <= now, "a fan-out that nothing continues")
    }

    func checkInvariants() {
        for loop in loops { loop.value.checkInvariants() }
        hub.host.engine.checkInvariants()
        checkFanOuts()
        if hub.isInline { checkSessions() }
    }
}

/// What one loop sees of the network.
final class SimulatedSockets: Transport {
    private let network: SimulatedNetwork
    fileprivate(set) var streamCount = 0
    private(set) var armed: UInt64?

    init(_ network: SimulatedNetwork) {
        self.network = network
    }

    var monotonicMilliseconds: UInt64 { network.monotonicMilliseconds }
    var monotonicNanoseconds: UInt64 { network.monotonicNanoseconds }
    var wallMilliseconds: Int64 { network.wallMilliseconds }

    func startReading(_ id: StreamID) { network.startReading(id) }
    func stopReading(_ id: StreamID) { network.stopReading(id) }
    func write(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) -> WriteOutcome {
        unsafe network.write(id, bytes)
    }
    func bytesPending(_ id: StreamID) -> Int { network.bytesPending(id) }
    func millisecondsSinceReceived(_ id: StreamID) -> UInt64? { nil }
    func delivery(_ id: StreamID) -> SocketDelivery? { network.delivery(id) }
    func close(_ id: StreamID) { network.close(id) }
    func closeAfterWrites(_ id: StreamID) { network.closeAfterWrites(id) }
    func peerAddress(of id: StreamID) -> String? { network.peerAddress(of: id) }
    func peerNetwork(of id: StreamID) -> ClientNetwork? { network.peerNetwork(of: id) }
    func armTimer(atMonotonicMilliseconds deadline: UInt64) { armed = deadline }
    func disarmTimer() { armed = nil }
    func startListening() throws(UVError) { network.startListening() }
    func stopListening() { network.stopListening() }
    func stop() { network.stop() }
}
