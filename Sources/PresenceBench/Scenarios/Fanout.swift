// Accounts in groups, each subscribed to all others of its group; then one after the other
// publishes.
// The scenario measures the server's CPU time per delivery, and checks that each event reaches each
// subscriber exactly once and in order: the value names the event, an event has a countdown of its
// deliveries, and the events of one publisher must rise at each receiver. A countdown that ends at
// zero with rising numbers at every receiver excludes losses and duplicates.

import ArgumentParser

/// `porchlight bench fanout`.
package struct Fanout: Scenario {
    package static let name = "fanout"
    package static let abstract = "Measure CPU time and latency of a delivery."

    enum Mode: String, ExpressibleByArgument, CaseIterable {
        case single, groups, saturated, paced
    }

    /// How events follow each other.
    enum Pace {
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
    enum End {
        case events(Int)
        case seconds(Double)
    }

    @Option(help: "Accounts, all online.") var accounts = 1_000
    @Option(help: "Accounts in a group: each subscribes to all others.") var group = 100
    @Option(
        help: ArgumentHelp(
            "single: one event at a time. groups: one event of each group at a time. saturated: "
                + "as many as --window allows. paced: --rate."))
    var mode = Mode.single
    @Option(help: "Deliveries in flight in mode saturated.") var window = 20_000
    @Option(help: "Events per second in mode paced.") var rate = 100
    @Flag(help: "Measure the lower bound, too: writing prepared bytes to the sockets.")
    var floor = false
    @Flag(
        help: ArgumentHelp(
            "Count and discard the bytes of the clients, except one of each group. The load then "
                + "needs a tenth of the CPU time. For --mode groups and saturated. With --connect: "
                + "set the service's heartbeat to 300."))
    var drain = false
    @Option(help: ArgumentHelp("Seconds to measure.", valueName: "s")) var duration = 10.0
    @Option(help: "Events to measure, instead of --duration.") var events: Int?

    /// Seconds without any delivery after which pending deliveries count as lost.
    var patienceSeconds = 10.0

    package init() {}

    private var pace: Pace {
        switch mode {
        case .single: .single
        case .groups: .onePerGroup
        case .saturated: .saturated(window: window)
        case .paced: .paced(perSecond: max(rate, 1))
        }
    }

    /// Runs it.
    ///
    /// - Throws: what went wrong, also if an event was lost, duplicated or out of order.
    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
        guard accounts >= 2, group >= 2, accounts <= Names.accountsMax else {
            throw BenchError(
                "The scenario needs at least two accounts, in groups of at least two.")
        }
        try checkDrain()
        var report = Report(Self.name, options)
        report.set("accounts", accounts)
        report.set("group", group)
        report.set("mode", pace.text)
        if drain { report.set("clients", "drained") }
        let own = try measure(.service, options, &report)
        guard floor, case .child = options.target else { return report }
        var floorReport = Report("floor", options)
        let bound = try measure(
            .floor(accounts: accounts, group: group), options, &floorReport)
        if let own, let bound, bound > 0 {
            report.add("floor: server CPU per delivery", bound, "µs", digits: 3)
            report.add("ratio to the floor", own / bound, "", digits: 2)
        }
        return report
    }

    private func checkDrain() throws(BenchError) {
        guard drain else { return }
        guard !floor else {
            throw BenchError("The floor is not measured with drained clients.")
        }
        guard mode == .groups || mode == .saturated else {
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
            options, connections: accounts, isDrained: drain, program: program)
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
        if drain { try stream.drainSubscribers() }
        let measured = try stream.run(
            until: events.map { .events($0) } ?? .seconds(duration), sample: bench.sample)
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
