// Thousands of clients on one loop. A client is a struct in an array, its account is its index.
// A scenario is a script: it starts something (`bring`, `send`), then runs the loop until a
// condition is true (`wait`). Messages that arrive are counted, checked and passed to the scenario.
//
// Conditions are evaluated at the end of each turn of the loop. A tick every few milliseconds sends
// keep-alives, reconnects clients, and updates the progress line.

import Containers
import EventLoop
import Glibc
import PresenceWire
import TLSSessions

final class Load: LoopHandler {
    /// What happens when a connection ends that the load did not close.
    enum LossPolicy {
        /// The run has failed.
        case fail
        /// The client reconnects, as the protocol requires.
        case reconnect
    }

    let loop: Loop
    let names: Names
    let scanner = Scanner()
    let progress: ProgressLine
    weak var observer: (any LoadObserver)?
    var target: ListenAddress
    var clients: [LoadClient] = []
    var counters = LoadCounters()
    var lossPolicy = LossPolicy.fail
    var loginList = LoginSync.online
    /// The clients that log in as readers of messages.
    var messageReaders = 0..<0
    var serverKey: String?
    /// Nil: clients connect without TLS.
    var tls: LoadTLS?
    let wire = TLSWire()
    /// Nanoseconds; read once for all frames of one read.
    var now: UInt64
    var random: SplitMix64
    /// Clients in the phase online.
    var onlineCount = 0
    /// Clients in the phases connecting to listing.
    var connectingCount = 0
    var connectingMax = 256
    var opening: [Int32] = []
    var openingFirst = 0
    var waiting: [Int32] = []
    var clientOfSlot: [Int32] = []
    var scratch: [UInt8] = []
    var keepAliveSeconds = 20.0
    /// 1 if a scenario has events that are due at a time.
    var tickMilliseconds: UInt64 = 5

    private var isDone: () -> Bool = { true }
    private var gaveUp = false
    private var deadline: UInt64 = 0
    private var keepAliveCursor = 0
    private var ticks = 0
    private var keepAliveDebt = 0.0
    private var tickedAt: UInt64 = 0

    init(target: ListenAddress, seed: UInt64, progress: ProgressLine) throws(BenchError) {
        do throws(UVError) { loop = try Loop() } catch {
            throw BenchError("The event loop cannot be created (\(error)).")
        }
        self.target = target
        self.progress = progress
        names = Names(seed: seed)
        random = SplitMix64(seed: seed)
        now = loop.monotonicNanoseconds
        tickedAt = now
    }

    /// Closes all connections.
    func close() {
        lossPolicy = .reconnect
        loop.close()
    }

    /// Makes ^C and SIGTERM end the run in order, so that the service is stopped with it.
    func watchInterrupts() {
        // Without it they end the process immediately, which does not affect the result.
        try? loop.watchSignals([SIGINT, SIGTERM])
    }

    /// Seconds of the monotonic clock.
    var seconds: Double { Double(loop.monotonicNanoseconds) / 1e9 }

    /// Runs the loop until the condition is true. It is evaluated at the end of each turn.
    func wait(
        for what: String, atMostSeconds: Double, until condition: @escaping () -> Bool
    ) throws(BenchError) {
        progress.stage = what
        isDone = condition
        gaveUp = false
        now = loop.monotonicNanoseconds
        deadline = now + UInt64(atMostSeconds * 1e9)
        armTick()
        loop.run(self)
        loop.disarmTimer()
        isDone = { true }
        if let unexpected = counters.unexpected { throw BenchError(unexpected) }
        guard !gaveUp else {
            throw BenchError(
                "Gave up waiting for \(what) after \(Int(atMostSeconds)) s: "
                    + "\(onlineCount) clients online, \(connectingCount) connecting, "
                    + "\(counters.requestsOutstanding) requests in flight.")
        }
    }

    /// Runs the loop for a time.
    func rest(seconds: Double, _ what: String) throws(BenchError) {
        let end = loop.monotonicNanoseconds + UInt64(seconds * 1e9)
        try wait(for: what, atMostSeconds: seconds + 30) { [unowned self] in
            loop.monotonicNanoseconds >= end
        }
    }

    /// Makes the run fail at the end of this turn; the first reason is reported.
    func fail(_ reason: String) {
        if counters.unexpected == nil { counters.unexpected = reason }
        loop.stop()
    }

    // MARK: Ticks

    func turnEnded() {
        pump()
        observer?.turnEnded()
        if counters.unexpected != nil || isDone() { loop.stop() }
    }

    func timerFired() {
        now = loop.monotonicNanoseconds
        if now >= deadline {
            gaveUp = true
            return loop.stop()
        }
        returnThoseDue()
        keepAlive()
        ticks += 1
        if ticks % 64 == 0 { giveUpAttempts() }
        progress.show(now) {
            "\(onlineCount) online, \(counters.events) events"
        }
        armTick()
    }

    private func armTick() {
        loop.armTimer(atMonotonicMilliseconds: loop.monotonicMilliseconds + tickMilliseconds)
    }

    /// Sends a keep-alive of each client once in `keepAliveSeconds`.
    private func keepAlive() {
        let passed = min(Double(now - tickedAt) / 1e9, keepAliveSeconds)
        tickedAt = now
        keepAliveDebt += Double(clients.count) * passed / keepAliveSeconds
        let frame: [UInt8] = [0, 0, 0, 0]
        while keepAliveDebt >= 1 {
            keepAliveDebt -= 1
            keepAliveCursor = (keepAliveCursor + 1) % clients.count
            if clients[keepAliveCursor].phase == .online { send(frame, by: keepAliveCursor) }
        }
    }

    // MARK: The rest of the loop's events

    func streamAccepted(_ id: StreamID) {}
    func acceptFailed(_ error: UVError) {}
    func wokenUp() {}
    func signalReceived(_ signal: Int32) { fail("The run was interrupted.") }
}
