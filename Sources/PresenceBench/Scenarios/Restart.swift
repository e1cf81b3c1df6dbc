import ArgumentParser
import EventLoop
import Glibc

/// `porchlight bench restart`: the service stops or is killed, and starts again on the same data.
package struct Restart: Scenario {
    package static let name = "restart"
    package static let abstract = "Measure a restart of the service with all clients online."

    /// How the service ends.
    enum Mode: String, ExpressibleByArgument, CaseIterable { case stop, kill, both }

    @Option(help: "Clients, all online.") var accounts = 15_000
    @Option(name: .customLong("group"), help: "Accounts that each one is subscribed to.")
    var subscriptions = 100
    @Option(help: "Stored subscriptions of accounts that are offline, in addition.")
    var stored = 0
    @Option(help: "How the service ends: stop (SIGTERM), kill (SIGKILL), or one each.")
    var mode = Mode.both

    package init() {}

    private static let appServers = 64

    /// Runs it.
    ///
    /// - Throws: what went wrong, such as an event of a client that reconnected in time.
    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
        guard case .child = options.target else {
            throw BenchError("The scenario starts and stops the service itself: omit --connect.")
        }
        guard accounts >= 2, subscriptions >= 1 else {
            throw BenchError(
                "The scenario needs at least two accounts with one subscription each.")
        }
        let bench = try Bench(
            options, connections: accounts + 1 + Self.appServers,
            serverOptions: ["--disconnect-grace", "60", "--restart-grace", "120"])
        defer { bench.end() }
        let groups = Groups(accounts: accounts, size: subscriptions + 1)
        let crowd = Crowd(bench.load, groups)
        try crowd.gather()
        let subscribers = StoredSubscribers(
            appServers: accounts + 1..<accounts + 1 + Self.appServers,
            firstSubscriber: accounts + 1 + Self.appServers)
        let accounts = accounts
        try subscribers.subscribe(bench.load, subscribers: stored / 100) { number in
            (0..<100).map { (number &* 101 &+ $0) % accounts }
        }
        var report = Report(Self.name, options)
        report.set("accounts", accounts)
        report.set("subscriptions each", subscriptions)
        report.add("subscriptions stored", groups.subscriptions + stored / 100 * 100)
        for ending in mode == .both ? [.stop, .kill] : [mode] {
            try restart(ending, bench, crowd, &report)
        }
        return report
    }

    private func restart(
        _ ending: Mode, _ bench: Bench, _ crowd: Crowd, _ report: inout Report
    ) throws(BenchError) {
        guard let child = bench.child else { return }
        let load = bench.load
        let prefix = ending.rawValue + ": "
        let before = bench.sample()
        crowd.begin()
        child.signal(ending == .stop ? SIGTERM : SIGKILL)
        try load.wait(for: "the end of the service", atMostSeconds: 60) { child.hasEnded() }
        report.add(prefix + "end of the service", crowd.seconds, "s", digits: 3)
        let started = load.seconds
        try child.start(port: load.target.port)
        var firstError: BenchError?
        try load.wait(for: "the start of the service", atMostSeconds: 120) {
            do throws(BenchError) { return try child.poll() != nil } catch {
                firstError = error
                return true
            }
        }
        if let firstError { throw firstError }
        let ready = load.seconds
        report.add(prefix + "start to ready", ready - started, "s", digits: 3)
        let atStart = bench.sample()
        if let atStart {
            report.add(prefix + "CPU of the start", atStart.cpuSeconds, "s", digits: 2)
        }
        try crowd.waitUntilAllAreBack(atMostSeconds: 180)
        report.addCPU(
            "return after \(ending.rawValue)", from: atStart, to: bench.sample(), per: accounts)
        report.add(prefix + "ready to all lists complete", load.seconds - ready, "s")
        report.add(prefix + "from the signal on", crowd.seconds, "s")
        crowd.describe(in: &report, prefix)
        try load.rest(seconds: 1, "silence")
        try crowd.checkSilence()
        try crowd.checkDelivery()
        report.addMemory(prefix, before: before, after: bench.sample())
    }
}
