/// `porchlight bench storm`: all clients are disconnected together and reconnect immediately.
public struct Storm: Sendable {
    /// How the connections end.
    public enum Drop: String, Sendable { case reset, close }

    /// The number of clients.
    public var accounts = 15_000
    /// The number of accounts that each is subscribed to.
    public var subscriptions = 100
    /// How the connections end.
    public var drop = Drop.reset
    /// The number of storms.
    public var times = 1

    /// The defaults.
    public init() {}

    /// Runs it.
    ///
    /// - Throws: what went wrong, such as an event of a client that reconnected in time.
    public func run(_ options: BenchOptions) throws(BenchError) -> Report {
        guard accounts >= 2, subscriptions >= 1, times >= 1 else {
            throw BenchError(
                "The scenario needs at least two accounts with one subscription each.")
        }
        let bench = try Bench(
            options, connections: accounts + 1, serverOptions: ["--disconnect-grace", "60"])
        defer { bench.end() }
        let groups = Groups(accounts: accounts, size: subscriptions + 1)
        let crowd = Crowd(bench.load, groups)
        try crowd.gather()
        try crowd.checkDelivery()

        var report = Report("storm", options)
        report.set("accounts", accounts)
        report.set("subscriptions each", subscriptions)
        report.set("drop", drop.rawValue)
        for time in 1...times {
            let prefix = times == 1 ? "" : "\(time). "
            let before = bench.sample()
            crowd.begin()
            bench.load.drop(0..<accounts, drop == .reset ? .reset : .close)
            bench.load.bring(0..<accounts)
            try crowd.waitUntilAllAreBack(atMostSeconds: 180)
            report.add(prefix + "time until all lists are complete", crowd.seconds, "s")
            let after = bench.sample()
            report.addCPU(prefix + "client that returns", from: before, to: after, per: accounts)
            crowd.describe(in: &report, prefix)
            // A late event would be as wrong as an early one.
            try bench.load.rest(seconds: 1, "silence")
            try crowd.checkSilence()
            try crowd.checkDelivery()
            report.addMemory(prefix, before: before, after: bench.sample())
        }
        return report
    }
}

extension Report {
    /// Adds the memory of the service before, after, and at its peak.
    mutating func addMemory(
        _ prefix: String, before: ProcessSample?, after: ProcessSample?
    ) {
        guard let before, let after else { return }
        let megabyte = 1_048_576.0
        add(
            prefix + "server memory before", Double(before.residentBytes) / megabyte, "MiB",
            digits: 1)
        add(
            prefix + "server memory at the peak", Double(after.peakBytes) / megabyte, "MiB",
            digits: 1)
        add(
            prefix + "server memory after", Double(after.residentBytes) / megabyte, "MiB", digits: 1
        )
    }
}
