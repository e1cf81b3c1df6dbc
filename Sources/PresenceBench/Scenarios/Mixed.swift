import ArgumentParser
import EventLoop

/// `porchlight bench mixed`: a mix of actions of clients, in configurable proportions.
package struct Mixed: Scenario {
    package static let name = "mixed"
    package static let abstract = "Measure a mix of requests, as an app makes them."

    @Option(help: "Accounts, all online.") var accounts = 2_000
    @Option(help: "Accounts in a group: each subscribes to all others.") var group = 100
    @Option(help: "Actions per second of all clients together.") var rate = 500
    @Option(help: "Share of logouts followed by a login.") var logins = 5
    @Option(help: "Share of lost connections that reconnect immediately.") var returns = 5
    @Option(help: "Share of new statuses.") var statuses = 40
    @Option(help: "Share of renewed subscriptions.") var renewals = 20
    @Option(help: "Share of queries by an app server.") var queries = 10
    @Option(help: "Share of pings.") var pings = 20
    @Option(
        help: ArgumentHelp(
            "Messages per second that other accounts exchange, in every other phase of the run. "
                + "Commits of statuses and renewals are compared with those of the other phases.",
            valueName: "number"))
    var messages = 0
    @Option(help: ArgumentHelp("Seconds to measure.", valueName: "s")) var duration = 20.0

    package init() {}

    package func validate() throws {
        guard (0...Self.messagesMax).contains(messages) else {
            throw ValidationError(
                "--messages \(messages): give a number from 0 to \(Self.messagesMax), messages "
                    + "per second.")
        }
        guard messages == 0 || statuses > 0 || renewals > 0 else {
            throw ValidationError(
                "--messages compares the commits of statuses and renewals: give --statuses or "
                    + "--renewals a share.")
        }
    }

    private var shares: [(action: MixedActions.Action, share: Int)] {
        [
            (.login, logins), (.reconnect, returns), (.publish, statuses), (.renew, renewals),
            (.query, queries), (.ping, pings),
        ]
    }

    private static let messagesMax = 20_000
    private static let appServers = 4

    /// Runs it.
    ///
    /// - Throws: what went wrong, also if a client does not have the newest state at the end, or
    ///   a message is lost.
    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
        let actions = shares.flatMap { Array(repeating: $0.action, count: max(0, $0.share)) }
        guard accounts >= 2, group >= 2, rate >= 1, !actions.isEmpty else {
            throw BenchError(
                "The scenario needs at least two accounts, in groups of at least two, and one "
                    + "share.")
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
            try beside.run(seconds: duration)
        } else {
            try load.rest(seconds: duration, "a day")
        }
        let after = bench.sample()
        let passed = load.seconds - began
        try mix.end()
        try mix.check()

        var report = Report(Self.name, options)
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
        for (action, share) in shares where share > 0 {
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
