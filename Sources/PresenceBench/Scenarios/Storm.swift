import ArgumentParser

/// `porchlight bench storm`: all clients are disconnected together and reconnect immediately.
package struct Storm: Scenario {
    package static let name = "storm"
    package static let abstract =
        "Measure a reconnect storm: all clients lose their connections and reconnect at once."

    @Option(help: "Clients, all online.") var accounts = 15_000
    @Option(name: .customLong("group"), help: "Accounts that each one is subscribed to.")
    var subscriptions = 100
    @Option(help: "How the connections end.") var drop = DropMethod.reset
    @Option(help: "Storms, one after the other.") var times = 1

    package init() {}

    /// Runs it.
    ///
    /// - Throws: what went wrong, such as an event of a client that reconnected in time.
    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
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

        var report = Report(Self.name, options)
        report.set("accounts", accounts)
        report.set("subscriptions each", subscriptions)
        report.set("drop", drop.rawValue)
        for time in 1...times {
            let prefix = times == 1 ? "" : "\(time). "
            let before = bench.sample()
            crowd.begin()
            bench.load.drop(0..<accounts, drop)
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

extension DropMethod: ExpressibleByArgument {}

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
