// Accounts in groups, each subscribed to all others of its group; then one after the other
// publishes.
// The scenario measures the server's CPU time per delivery, and checks that each event reaches each
// subscriber exactly once and in order: the value names the event, an event has a countdown of its
// deliveries, and the events of one publisher must rise at each receiver. A countdown that ends at
// zero with rising numbers at every receiver excludes losses and duplicates.

/// `porchlight bench fanout`.
public struct Fanout: Sendable {
    /// How events follow each other.
    public enum Pace: Sendable {
        /// One event in flight at a time.
        case single
        /// One event of each group in flight at a time.
        case onePerGroup
        /// As many events as keep this number of deliveries in flight.
        case saturated(window: Int)
        /// This number of events per second, due at fixed times, whatever arrives.
        case paced(perSecond: Int)
    }

    /// When the run ends.
    public enum End: Sendable {
        case events(Int)
        case seconds(Double)
    }

    /// The number of accounts, all online.
    public var accounts = 1_000
    /// The number of accounts in a group, which are subscribed to each other.
    public var group = 100
    /// How events follow each other.
    public var pace = Pace.single
    /// When the run ends.
    public var end = End.seconds(10)
    /// Seconds without any delivery after which pending deliveries count as lost.
    public var patienceSeconds = 10.0

    /// Whether the least possible cost is also measured, right after it.
    public var isFloorMeasured = false
    /// Whether the bytes of all subscribers but one of each group are only counted. For
    /// `Pace.onePerGroup` and `Pace.saturated`.
    public var isDrained = false

    /// The defaults.
    public init() {}

    /// Runs it.
    ///
    /// - Throws: what went wrong, also if an event was lost, duplicated or out of order.
    public func run(_ options: BenchOptions) throws(BenchError) -> Report {
        guard accounts >= 2, group >= 2, accounts <= Names.accountsMax else {
            throw BenchError(
                "The scenario needs at least two accounts, in groups of at least two.")
        }
        try checkDrain()
        var report = Report("fanout", options)
        report.set("accounts", accounts)
        report.set("group", group)
        report.set("mode", pace.text)
        if isDrained { report.set("clients", "drained") }
        let own = try measure(.service, options, &report)
        guard isFloorMeasured, case .child = options.target else { return report }
        var floorReport = Report("floor", options)
        let floor = try measure(
            .floor(accounts: accounts, group: group), options, &floorReport)
        if let own, let floor, floor > 0 {
            report.add("floor: server CPU per delivery", floor, "µs", digits: 3)
            report.add("ratio to the floor", own / floor, "", digits: 2)
        }
        return report
    }

    private func checkDrain() throws(BenchError) {
        guard isDrained else { return }
        guard !isFloorMeasured else {
            throw BenchError("The floor is not measured with drained clients.")
        }
        switch pace {
        case .onePerGroup, .saturated: break
        case .single, .paced:
            throw BenchError("Drained clients need mode groups or saturated.")
        }
        guard group >= 3 else {
            throw BenchError("Drained clients need groups of at least three accounts.")
        }
    }

    /// Measures a service. Returns its CPU time per delivery in microseconds, if known.
    private func measure(
        _ program: ChildServer.Program, _ options: BenchOptions, _ report: inout Report
    ) throws(BenchError) -> Double? {
        let bench = try Bench(
            options, connections: accounts, isDrained: isDrained, program: program)
        defer { bench.end() }
        let groups = Groups(accounts: accounts, size: group)
        let load = bench.load
        load.loginList = .none
        let before = bench.sample()
        try load.arrive(0..<accounts)
        let online = bench.sample()
        try load.subscribe(groups)
        let subscribed = bench.sample()
        let stream = EventStream(load, groups, pace: pace, patienceSeconds: patienceSeconds)
        load.observer = stream
        defer { stream.stopDraining() }
        if isDrained { try stream.drainSubscribers() }
        let measured = try stream.run(until: end, sample: bench.sample)
        let (begin, finish) = (measured.before, measured.after)

        report.addCPU("delivery", from: begin, to: finish, per: measured.deliveries)
        report.add("deliveries", measured.deliveries)
        report.add("events", measured.events)
        report.add(
            "deliveries a second", Double(measured.deliveries) / measured.seconds, "/s", digits: 0)
        report.add("bytes of an event", measured.bytesPerEvent, "B", digits: 0)
        if let begin, let finish {
            let share = (finish.cpuSeconds - begin.cpuSeconds) / measured.seconds
            report.add("server's processor in use", share * 100, "%", digits: 0)
        }
        report.add("latency", stream.latencies)
        report.addCPU("subscription", from: online, to: subscribed, per: groups.subscriptions)
        report.addBytes(
            "memory a connection and its subscriptions", from: before, to: subscribed,
            per: accounts)
        return report.value("server CPU per delivery")
    }
}

extension Fanout.Pace {
    var text: String {
        switch self {
        case .single: "single"
        case .onePerGroup: "groups"
        case .saturated(let window): "saturated, window \(window)"
        case .paced(let perSecond): "paced, \(perSecond) events/s"
        }
    }
}
