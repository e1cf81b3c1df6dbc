import EventLoop

/// `porchlight bench connections`: the cost of an idle client.
public struct Connections: Sendable {
    /// The number of clients; nil: as many as the descriptors allow.
    public var accounts: Int? = 10_000
    /// The number of accounts in a group, which are subscribed to each other; 1: no subscriptions.
    public var group = 100
    /// How long the idle service is measured.
    public var seconds = 20.0
    /// Seconds between the keep-alives of a client; the default heartbeat is 30.
    public var keepAliveSeconds = 27.0

    /// The defaults.
    public init() {}

    /// Runs it.
    public func run(_ options: BenchOptions) throws(BenchError) -> Report {
        let accounts = self.accounts ?? Descriptors.raiseMax() - DescriptorLimit.spare
        guard accounts >= 1, group >= 1 else {
            throw BenchError(
                "The scenario needs at least one account, in groups of at least one.")
        }
        let bench = try Bench(options, connections: accounts)
        defer { bench.end() }
        let load = bench.load
        load.loginList = .none
        load.keepAliveSeconds = keepAliveSeconds
        let groups = Groups(accounts: accounts, size: group)
        let empty = bench.sample()
        try load.arrive(0..<accounts)
        try load.rest(seconds: min(seconds, 2), "quiet")
        let connected = bench.sample()
        try load.subscribe(groups)
        try load.rest(seconds: min(seconds, 2), "quiet")
        let subscribed = bench.sample()
        let began = load.seconds
        try load.rest(seconds: seconds, "idling")
        let passed = load.seconds - began
        let rested = bench.sample()

        var report = Report("connections", options)
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
