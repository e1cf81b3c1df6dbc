import EventLoop

/// `porchlight bench connections`: what a client costs that does nothing.
public struct Connections: Sendable {
    /// How many clients; nil: as many as there can be.
    public var accounts: Int? = 10_000
    /// The number of accounts that watch each other; 1: no subscriptions.
    public var group = 100
    /// For how long the idle service is watched.
    public var seconds = 20.0
    /// Seconds between the signs of life of a client; the heartbeat is 30 unless set otherwise.
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
        // The store has given back by then what it needed to write.
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
    /// Adds how much the resident memory has grown for each of `count` things.
    mutating func addBytes(
        _ name: String, from begin: ProcessSample?, to end: ProcessSample?, per count: Int
    ) {
        guard let begin, let end, count > 0 else { return }
        add(name, Double(end.residentBytes - begin.residentBytes) / Double(count), "B", digits: 1)
    }
}
