import EventLoop

/// `porchlight bench mixed`: a mix of actions of clients, in configurable proportions.
public struct Mixed: Sendable {
    /// The number of accounts, all online.
    public var accounts = 2_000
    /// The number of accounts in a group, which are subscribed to each other.
    public var group = 100
    /// Actions per second of all clients together.
    public var rate = 500
    /// Duration of the run.
    public var seconds = 20.0
    /// The shares of the actions, in percent.
    public var shares = Shares()

    /// The relative frequency of each action.
    public struct Shares: Sendable {
        /// A logout, and a login immediately after it.
        public var logins = 5
        /// A lost connection, and an immediate reconnect.
        public var returns = 5
        /// A new status.
        public var statuses = 40
        /// A client renews its subscriptions.
        public var renewals = 20
        /// An app server queries the states of accounts.
        public var queries = 10
        /// A ping.
        public var pings = 20

        /// The defaults.
        public init() {}

        var all: [(MixedActions.Action, Int)] {
            [
                (.login, logins), (.reconnect, returns), (.publish, statuses), (.renew, renewals),
                (.query, queries), (.ping, pings),
            ]
        }
    }

    /// The defaults.
    public init() {}

    private static let appServers = 4

    /// Runs it.
    ///
    /// - Throws: what went wrong, also if a client does not have the newest state at the end.
    public func run(_ options: BenchOptions) throws(BenchError) -> Report {
        let actions = shares.all.flatMap { Array(repeating: $0.0, count: max(0, $0.1)) }
        guard accounts >= 2, group >= 2, rate >= 1, !actions.isEmpty else {
            throw BenchError(
                "The scenario needs at least two accounts, in groups of at least two, and one "
                    + "share.")
        }
        let bench = try Bench(options, connections: accounts + Self.appServers)
        defer { bench.end() }
        let load = bench.load
        let groups = Groups(accounts: accounts, size: group)
        load.loginList = .none
        try load.arrive(0..<accounts)
        try load.subscribe(groups)
        let appServers = accounts..<accounts + Self.appServers
        load.grow(to: appServers.upperBound)
        for client in appServers { load.clients[client].role = .appServer }
        try load.arrive(appServers)
        let mix = MixedActions(load, groups, appServers: appServers, actions: actions, rate: rate)
        load.observer = mix
        // All clients reconnect once, to know the state of all others before it changes.
        load.loginList = .all
        load.drop(0..<accounts, .close)
        try load.arrive(0..<accounts)
        load.connectingMax = .max
        let before = bench.sample()
        let began = load.seconds
        mix.begin()
        try load.rest(seconds: seconds, "a day")
        let after = bench.sample()
        let passed = load.seconds - began
        try mix.end()
        try mix.check()

        var report = Report("mixed", options)
        report.set("accounts", accounts)
        report.set("group", group)
        report.set("rate", "\(rate)/s")
        report.add("things done", mix.doneCount)
        report.add("skipped, since all clients were busy", mix.skippedCount)
        report.add("events delivered", load.counters.events)
        report.addCPU("thing done", from: before, to: after, per: mix.doneCount)
        if let before, let after {
            report.add(
                "server's processor in use", (after.cpuSeconds - before.cpuSeconds) / passed * 100,
                "%", digits: 1)
        }
        for (action, share) in shares.all where share > 0 {
            report.add("\(action)", mix.times[action.rawValue])
        }
        report.addMemory("", before: before, after: after)
        return report
    }
}
