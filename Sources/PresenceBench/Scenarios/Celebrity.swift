import ArgumentParser
import EventLoop
import PresenceWire

/// `porchlight bench celebrity`: one publisher with many subscribers, and other clients that ping.
package struct Celebrity: Scenario {
    package static let name = "celebrity"
    package static let abstract =
        "Measure one publisher with many subscribers, while other clients ping."

    @Option(name: .customLong("accounts"), help: "Subscribers online.") var subscribers = 10_000
    @Option(help: "Subscribers offline.") var offline = 0
    @Option(help: "Events per second of the publisher.") var rate = 2.0
    @Option(help: "Pings per second of twenty other clients together.") var pings = 200
    @Option(help: ArgumentHelp("Seconds to measure.", valueName: "s")) var duration = 10.0
    @Flag(
        help: ArgumentHelp(
            "Count and discard the bytes of the subscribers, except one in 64. The load then "
                + "needs a tenth of the CPU time. With --connect: set the service's heartbeat to "
                + "300."))
    var drain = false

    package init() {}

    private static let pingers = 20
    private static let appServers = 64
    private static let checkedEvery = 64
    /// Receive buffers hold the events of this time, at any rate that is allowed.
    private static let drainPauseMilliseconds = 200
    private static let patienceSeconds = 10.0

    /// Runs it.
    ///
    /// - Throws: what went wrong, also if the last event did not reach every subscriber.
    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
        guard subscribers >= 1, rate > 0, rate <= 1_000 else {
            throw BenchError(
                "The scenario needs at least one subscriber and one ping, and at most 1,000 "
                    + "events/s.")
        }
        let connections = 1 + subscribers + Self.pingers
        let bench = try Bench(
            options, connections: connections + Self.appServers, isDrained: drain)
        defer { bench.end() }
        let load = bench.load
        load.loginList = .none
        try load.arrive(0..<1 + subscribers)
        let names = load.names
        try load.round("subscribers' subscriptions", of: 1..<1 + subscribers) { _, bytes in
            bytes.appendSubscribe(to: [0], expirySeconds: 86_400, names)
            return 1
        }
        let stored = StoredSubscribers(
            appServers: connections..<connections + Self.appServers,
            firstSubscriber: connections + Self.appServers)
        try stored.subscribe(load, subscribers: offline) { _ in [0] }

        let accounts = 1 + subscribers..<connections
        let drained = (1...subscribers).filter { drain && $0 % Self.checkedEvery != 1 }
        let celebrity = CelebrityObserver(
            load, subscribers: subscribers, checkedCount: subscribers - drained.count, rate: rate)
        load.observer = celebrity
        let sockets = try drainSockets(drained, load)
        defer { sockets?.stop() }
        let pinging = Pings.Run(accounts: accounts, perSecond: pings, seed: options.seed)
        let quiet = try pinging.run(load, seconds: duration / 4, "pings in peace")
        let before = bench.sample()
        celebrity.begin()
        let busy = try pinging.run(load, seconds: duration, "pings meanwhile")
        try celebrity.end()
        try sockets?.finish(load, patienceSeconds: Self.patienceSeconds) { _ in
            celebrity.bytesSent
        }
        let after = bench.sample()
        let deliveries = celebrity.deliveries + drained.count * celebrity.sent

        var report = Report(Self.name, options)
        report.set("subscribers online", subscribers)
        report.set("subscribers offline", offline)
        report.set("events a second", rate)
        if drain { report.set("clients", "drained") }
        report.add("ping in peace", quiet)
        report.add("ping meanwhile", busy)
        report.add("delivery", celebrity.times)
        report.add("events", celebrity.sent)
        report.add("deliveries", deliveries)
        report.add("left out for a newer one", celebrity.sent * subscribers - deliveries)
        report.addCPU("delivery", from: before, to: after, per: deliveries)
        return report
    }

    private func drainSockets(
        _ accounts: [Int], _ load: Load
    ) throws(BenchError) -> DrainedSockets? {
        guard !accounts.isEmpty else { return nil }
        return try DrainedSockets(
            load, accounts: accounts, lowWaterBytes: 1,
            pauseMilliseconds: Self.drainPauseMilliseconds)
    }
}

/// The celebrity's events, and which subscribers have received them.
final class CelebrityObserver: LoadObserver {
    private(set) var times = Latencies()
    private(set) var sent = 0
    /// To the subscribers that are checked.
    private(set) var deliveries = 0
    private let load: Load
    private let checkedCount: Int
    private let pauseNanoseconds: UInt64
    private var isPublishing = false
    private var dueNext: UInt64 = 0
    private var due: [UInt64] = []
    private var bytesByEvent: [Int] = []
    private var newest: [Int]
    private var upToDate = 0

    private static let firstValue = 1_000_000_000

    /// Accounts 1 to `subscribers` subscribe; the events of `checkedCount` of them are seen here.
    init(_ load: Load, subscribers: Int, checkedCount: Int, rate: Double) {
        self.load = load
        self.checkedCount = checkedCount
        pauseNanoseconds = UInt64(1e9 / rate)
        newest = Array(repeating: -1, count: subscribers + 1)
    }

    func begin() {
        isPublishing = true
        dueNext = load.loop.monotonicNanoseconds
    }

    /// The bytes of all events that a checked subscriber has received.
    var bytesSent: Int { bytesByEvent.reduce(0, +) }

    /// Ends publishing and waits until all subscribers have the last event.
    func end() throws(BenchError) {
        isPublishing = false
        try load.wait(for: "the last event at every subscriber", atMostSeconds: 60) {
            [unowned self] in
            upToDate == checkedCount || sent == 0
        }
    }

    func turnEnded() {
        guard isPublishing else { return }
        while dueNext <= load.loop.monotonicNanoseconds {
            var frame: [UInt8] = []
            frame.appendPublish(value: Self.firstValue + sent)
            due.append(dueNext)
            bytesByEvent.append(0)
            sent += 1
            upToDate = 0
            load.request(frame, by: 0)
            dueNext += pauseNanoseconds
        }
    }

    func received(_ event: ScannedEvent, by client: Int, in body: RawSpan) {
        let number = event.value - Self.firstValue
        guard event.publisher == 0, event.cause == .publish, due.indices.contains(number),
            newest.indices.contains(client)
        else { return load.fail("An event that was not published: \(load.text(of: body)).") }
        guard newest[client] < number else {
            return load.fail("A subscriber got event \(number) twice, or after a newer one.")
        }
        bytesByEvent[number] = body.byteCount + FrameSplitter.lengthBytes
        newest[client] = number
        deliveries += 1
        if number == sent - 1 { upToDate += 1 }
        times.record(from: due[number], to: load.now)
    }
}
