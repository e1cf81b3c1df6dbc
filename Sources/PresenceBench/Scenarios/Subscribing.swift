import ArgumentParser
import EventLoop

/// `porchlight bench subscribe`: making, renewing and ending subscriptions.
package struct Subscribing: Scenario {
    package static let name = "subscribe"
    package static let abstract = "Measure CPU time of creating and renewing subscriptions."

    @Option(help: "Accounts, all online.") var accounts = 5_000
    @Option(help: "Accounts in a group: each subscribes to all others, 100 per request.")
    var group = 101
    @Option(help: "Requests in flight.") var window = 512
    @Option(name: .customLong("events"), help: "Times that all subscriptions are renewed.")
    var renewals = 3

    package init() {}

    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
        guard accounts >= 2, group >= 2, window >= 1 else {
            throw BenchError(
                "The scenario needs at least two accounts, in groups of at least two.")
        }
        let bench = try Bench(options, connections: accounts)
        defer { bench.end() }
        let load = bench.load
        load.loginList = .none
        try load.arrive(0..<accounts)
        let groups = Groups(accounts: accounts, size: group)
        var report = Report(Self.name, options)
        report.set("accounts", accounts)
        report.set("group", group)
        report.set("window", window)
        report.add("subscriptions", groups.subscriptions)
        let empty = bench.sample()
        try measure("new", times: 1, bench, groups, &report)
        report.addBytes("memory", from: empty, to: bench.sample(), per: groups.subscriptions)
        try measure("renewed", times: renewals, bench, groups, &report)
        let before = bench.sample()
        try load.round("unsubscribing", of: 0..<accounts, outstandingMax: window) { _, bytes in
            bytes.appendUnsubscribeAll()
            return 1
        }
        report.addCPU(
            "subscription removed", from: before, to: bench.sample(), per: groups.subscriptions)
        return report
    }

    private func measure(
        _ name: String, times: Int, _ bench: Bench, _ groups: Groups, _ report: inout Report
    ) throws(BenchError) {
        guard times > 0 else { return }
        let load = bench.load
        let waits = ResponseTimes(load, clients: groups.accounts)
        load.observer = waits
        let before = bench.sample()
        let began = load.seconds
        for time in 0..<times {
            let names = load.names
            try load.round(
                "subscriptions (\(name))", of: 0..<groups.accounts, outstandingMax: window
            ) { account, bytes in
                waits.asked(account)
                let count = groups.requests(of: account)
                for chunk in 0..<count {
                    bytes.appendSubscribe(
                        to: groups.others(of: account, chunk: chunk),
                        expirySeconds: 86_400 + 60 * time, names)
                }
                return count
            }
        }
        let passed = load.seconds - began
        let count = groups.subscriptions * times
        report.addCPU("subscription \(name)", from: before, to: bench.sample(), per: count)
        report.add("subscriptions \(name) a second", Double(count) / passed, "/s", digits: 0)
        report.add("request \(name)", waits.times)
    }
}

/// How long requests take, one at a time of each client.
final class ResponseTimes: LoadObserver {
    private(set) var times = Latencies()
    private let load: Load
    private var askedAt: [UInt64]

    init(_ load: Load, clients: Int) {
        self.load = load
        askedAt = Array(repeating: 0, count: clients)
    }

    func asked(_ client: Int) {
        askedAt[client] = load.loop.monotonicNanoseconds
    }

    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan) {
        guard client < askedAt.count, askedAt[client] > 0 else { return }
        times.record(from: askedAt[client], to: load.now)
    }
}
