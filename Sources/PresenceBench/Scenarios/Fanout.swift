// Accounts in groups, each watching all others of its group; then one after the other publishes.
// What is counted is the server's CPU time per delivery, and what is checked is that each event
// comes to each watcher exactly once and in order: the value names the event, an event has a
// countdown of its deliveries, and a receiver's events of one publisher must rise. A countdown
// that ends at zero with rising numbers at every receiver leaves room for nothing else.

/// `porchlight bench fanout`.
public struct Fanout: Sendable {
    /// How events follow each other.
    public enum Pace: Sendable {
        /// One event is out at a time.
        case single
        /// As many as keep so many deliveries out.
        case saturated(window: Int)
        /// So many events a second, due at fixed times, whatever comes back.
        case paced(perSecond: Int)
    }

    /// When it is over.
    public enum End: Sendable {
        case events(Int)
        case seconds(Double)
    }

    /// How many accounts, all online.
    public var accounts = 1_000
    /// How many watch each other.
    public var group = 100
    /// How events follow each other.
    public var pace = Pace.single
    /// When it is over.
    public var end = End.seconds(10)

    /// The defaults.
    public init() {}

    /// Runs it.
    ///
    /// - Throws: what went wrong, also where an event was lost, doubled or out of order.
    public func run(_ options: BenchOptions) throws(BenchFailure) -> Report {
        guard accounts >= 2, group >= 2, accounts <= Names.accountsMax else {
            throw BenchFailure("A fan-out needs two accounts and groups of two at least.")
        }
        let bench = try Bench(options, connections: accounts)
        defer { bench.end() }
        let groups = Groups(accounts: accounts, size: group)
        let load = bench.load
        load.loginList = .none
        let before = bench.sample()
        try load.arrive(0..<accounts)
        let online = bench.sample()
        try load.subscribe(groups)
        let subscribed = bench.sample()
        let stream = EventStream(load, groups, pace: pace)
        load.observer = stream
        let measured = try stream.run(until: end, sample: bench.sample)
        let (begin, finish) = (measured.before, measured.after)

        var report = Report("fanout", options)
        report.set("accounts", accounts)
        report.set("group", group)
        report.set("mode", pace.text)
        report.addCPU("delivery", from: begin, to: finish, per: measured.deliveries)
        report.add("deliveries", measured.deliveries)
        report.add("events", measured.events)
        report.add(
            "deliveries a second", Double(measured.deliveries) / measured.seconds, "/s",
            digits: 0)
        report.add("bytes of an event", measured.bytesPerEvent, "B", digits: 0)
        if let begin, let finish {
            let share = (finish.cpuSeconds - begin.cpuSeconds) / measured.seconds
            report.add("server's processor in use", share * 100, "%", digits: 0)
        }
        report.add("latency", stream.latencies)
        report.addCPU("subscription", from: online, to: subscribed, per: groups.subscriptions)
        if let before, let subscribed {
            let bytes = subscribed.residentBytes - before.residentBytes
            report.add(
                "memory a connection and its subscriptions", Double(bytes) / Double(accounts),
                "B", digits: 0)
        }
        return report
    }
}

extension Fanout.Pace {
    var text: String {
        switch self {
        case .single: "single"
        case .saturated(let window): "saturated, window \(window)"
        case .paced(let perSecond): "paced, \(perSecond) events/s"
        }
    }
}
