import ArgumentParser
import EventLoop

/// `porchlight bench connections`: the cost of an idle client.
package struct Connections: Scenario {
    package static let name = "connections"
    package static let abstract = "Measure memory and CPU time of idle clients."

    @Option(help: "Clients, all online.") var accounts = 10_000
    @Flag(help: "As many clients as there are descriptors.") var most = false
    @Option(help: "Accounts in a group: each subscribes to all others. 1: no subscriptions.")
    var group = 100
    @Option(help: ArgumentHelp("Seconds that they idle.", valueName: "s")) var duration = 20.0
    @Option(help: ArgumentHelp("Seconds between keep-alive frames of a client.", valueName: "s"))
    var keepAlive = 27.0

    package init() {}

    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
        let accounts = most ? Descriptors.raiseMax() - DescriptorLimit.spare : self.accounts
        guard accounts >= 1, group >= 1 else {
            throw BenchError(
                "The scenario needs at least one account, in groups of at least one.")
        }
        let bench = try Bench(options, connections: accounts)
        defer { bench.end() }
        let load = bench.load
        load.loginList = .none
        load.keepAliveSeconds = max(keepAlive, 0.1)
        let groups = Groups(accounts: accounts, size: group)
        let empty = bench.sample()
        try load.arrive(0..<accounts)
        try load.rest(seconds: min(duration, 2), "quiet")
        let connected = bench.sample()
        try load.subscribe(groups)
        try load.rest(seconds: min(duration, 2), "quiet")
        let subscribed = bench.sample()
        let began = load.seconds
        try load.rest(seconds: duration, "idling")
        let passed = load.seconds - began
        let rested = bench.sample()

        var report = Report(Self.name, options)
        report.set("accounts", accounts)
        report.set("group", group)
        report.addBytes("memory a connection", from: empty, to: connected, per: accounts)
        report.addBytes(
            "memory a subscription", from: connected, to: subscribed, per: groups.subscriptions)
        report.addBytes("memory of both together", from: empty, to: subscribed, per: accounts)
        // By then the store has freed its page cache.
        report.addBytes("memory of both together, at rest", from: empty, to: rested, per: accounts)
        report.addCPU("login", from: empty, to: connected, per: accounts)
        report.addCPU("subscription", from: connected, to: subscribed, per: groups.subscriptions)
        report.addCPU(
            "connection and second", from: subscribed, to: rested,
            per: Int(Double(accounts) * passed))
        if let rested {
            report.add(
                "server memory", Double(rested.residentBytes) / 1_048_576, "MiB", digits: 1)
            report.add(
                "server memory, shared pages in parts",
                Double(rested.proportionalBytes) / 1_048_576, "MiB",
                digits: 1)
        }
        return report
    }
}

extension Report {
    /// Adds the growth of resident memory for each of `count` objects.
    mutating func addBytes(
        _ name: String, from begin: ProcessSample?, to end: ProcessSample?, per count: Int
    ) {
        guard let begin, let end, count > 0 else { return }
        add(name, Double(end.residentBytes - begin.residentBytes) / Double(count), "B", digits: 1)
    }
}
