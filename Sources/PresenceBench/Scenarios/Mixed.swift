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
    /// Messages per second that other accounts exchange during half of the run; 0: none.
    public var messages = 0
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

    /// The most messages per second.
    public static let messagesMax = 20_000

    /// The defaults.
    public init() {}

    private static let appServers = 4

    /// Runs it.
    ///
    /// - Throws: what went wrong, also if a client does not have the newest state at the end, or
    ///   a message is lost.
    public func run(_ options: BenchOptions) throws(BenchError) -> Report {
        let actions = shares.all.flatMap { Array(repeating: $0.0, count: max(0, $0.1)) }
        guard accounts >= 2, group >= 2, rate >= 1, !actions.isEmpty else {
            throw BenchError(
                "The scenario needs at least two accounts, in groups of at least two, and one "
                    + "share.")
        }
        guard (0...Self.messagesMax).contains(messages) else {
            throw BenchError("\(messages) messages per second: 0 to \(Self.messagesMax) are sent.")
        }
        guard messages == 0 || actions.contains(where: \.isCommit) else {
            throw BenchError(
                "Beside messages the times of statuses and renewals are measured: give one of "
                    + "them a share.")
        }
        let appServers = accounts..<accounts + Self.appServers
        let senders = MixedMessages.clients(from: appServers.upperBound, rate: messages)
        let bench = try Bench(options, connections: senders.upperBound)
        defer { bench.end() }
        let load = bench.load
        let groups = Groups(accounts: accounts, size: group)
        let mix = try bringAll(load, groups, appServers: appServers, senders: senders, actions)
        let beside =
            messages > 0 ? MixedMessages(load, mix, clients: senders, rate: messages) : nil
        load.observer = beside ?? mix
        try reconnectAll(load)
        let before = bench.sample()
        let began = load.seconds
        mix.begin()
        if let beside {
            try beside.run(seconds: seconds)
        } else {
            try load.rest(seconds: seconds, "a day")
        }
        let after = bench.sample()
        let passed = load.seconds - began
        try mix.end()
        try mix.check()

        var report = Report("mixed", options)
        describe(mix, events: load.counters.events, in: &report)
        let count = mix.doneCount + (beside?.ring.count ?? 0)
        report.addCPU(
            beside == nil ? "thing done" : "thing done or message", from: before, to: after,
            per: count)
        if let before, let after {
            report.add(
                "server's processor in use", (after.cpuSeconds - before.cpuSeconds) / passed * 100,
                "%", digits: 1)
        }
        for (action, share) in shares.all where share > 0 {
            report.add("\(action)", mix.times[action.rawValue])
        }
        if let beside { describe(beside, mix, in: &report) }
        report.addMemory("", before: before, after: after)
        return report
    }

    /// Has all clients log in and subscribe.
    private func bringAll(
        _ load: Load, _ groups: Groups, appServers: Range<Int>, senders: Range<Int>,
        _ actions: [MixedActions.Action]
    ) throws(BenchError) -> MixedActions {
        load.loginList = .none
        try load.arrive(0..<accounts)
        try load.subscribe(groups)
        load.grow(to: senders.upperBound)
        for client in appServers { load.clients[client].role = .appServer }
        load.messageReaders = senders
        try load.arrive(appServers.lowerBound..<senders.upperBound)
        return MixedActions(load, groups, appServers: appServers, actions: actions, rate: rate)
    }

    /// Has all accounts reconnect once, to know the state of all others before it changes.
    private func reconnectAll(_ load: Load) throws(BenchError) {
        load.loginList = .all
        load.drop(0..<accounts, .close)
        try load.arrive(0..<accounts)
        load.connectingMax = .max
    }

    private func describe(_ mix: MixedActions, events: Int, in report: inout Report) {
        report.set("accounts", accounts)
        report.set("group", group)
        report.set("rate", "\(rate)/s")
        if messages > 0 { report.set("messages", "\(messages)/s") }
        report.add("things done", mix.doneCount)
        report.add("skipped, since all clients were busy", mix.skippedCount)
        report.add("events delivered", events)
    }

    /// Adds what messages cost the others.
    private func describe(
        _ beside: MixedMessages, _ mix: MixedActions, in report: inout Report
    ) {
        report.add("messages taken", beside.ring.count)
        report.add("message", beside.ring.times)
        let quiet = mix.commits[MixedPhase.withoutMessages.rawValue]
        let busy = mix.commits[MixedPhase.withMessages.rawValue]
        report.add("commit without messages", quiet)
        report.add("commit with messages", busy)
        let base = quiet.milliseconds(percentile: 99)
        guard base > 0 else { return }
        report.add(
            "ratio of the p99 with messages", busy.milliseconds(percentile: 99) / base, "")
    }
}
