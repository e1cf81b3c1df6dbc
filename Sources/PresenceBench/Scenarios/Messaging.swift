import ArgumentParser
import EventLoop

/// `porchlight bench messages`: messages that are sent, stored, delivered and taken.
package struct Messaging: Scenario {
    package static let name = "messages"
    package static let abstract =
        "Measure CPU time of messages that are sent, stored, delivered and taken."

    @Option(help: "Accounts, all online.") var accounts = 1_000
    @Option(help: "Messages that each sends, to the next account.") var messages = 20
    @Option(help: "Bytes of text of a message.") var bodyBytes = 200
    @Option(help: "Requests in flight.") var window = 256
    @Option(help: "Messages that wait for accounts that are not online.") var waiting = 0

    package init() {}

    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
        guard accounts >= 2, messages >= 1, window >= 1, (1...40_000).contains(bodyBytes) else {
            throw BenchError(
                "The scenario needs at least two accounts, a message of each, and texts of 1 to "
                    + "40000 bytes.")
        }
        guard waiting <= accounts * Self.waitingPerAccountMax else {
            throw BenchError(
                "An account sends \(Self.waitingPerAccountMax) messages that wait, at most.")
        }
        let bench = try Bench(options, connections: accounts)
        defer { bench.end() }
        let load = bench.load
        load.loginList = .none
        load.messageReaders = 0..<accounts
        try load.arrive(0..<accounts)
        var report = Report(Self.name, options)
        report.set("accounts", accounts)
        report.set("messages of each", messages)
        report.set("bytes of text", bodyBytes)
        report.set("window", window)
        report.set("messages waiting", waiting)
        let names = load.names
        let empty = bench.sample()
        // Of one stranger, a box holds a quarter of 100.
        try send("messages that wait", waiting, load) { [accounts] number, bytes in
            bytes.appendSend(to: accounts + number / 20, bodyBytes: 10, names)
        }
        if waiting > 0 {
            report.addBytes("memory", from: empty, to: bench.sample(), per: waiting)
        }
        try exchange(bench, &report)
        return report
    }

    /// Of 1,000 that a sender may have waiting.
    private static let waitingPerAccountMax = 900

    private func exchange(_ bench: Bench, _ report: inout Report) throws(BenchError) {
        let load = bench.load
        let ring = MessageRing(load, 0..<accounts)
        load.observer = ring
        let count = accounts * messages
        let before = bench.sample()
        let began = load.seconds
        try send("messages", count, load) { [accounts, bodyBytes] number, bytes in
            ring.appendSend(
                by: number % accounts, bodyBytes: bodyBytes, due: load.loop.monotonicNanoseconds,
                to: &bytes)
        }
        try ring.settle()
        report.addCPU("message", from: before, to: bench.sample(), per: count)
        report.add("messages a second", Double(count) / (load.seconds - began), "/s", digits: 0)
        report.add("delivery", ring.times)
    }

    /// Has the accounts send messages in turn.
    private func send(
        _ what: String, _ count: Int, _ load: Load,
        _ build: @escaping (Int, inout [UInt8]) -> Void
    ) throws(BenchError) {
        var next = 0
        try load.wait(for: what, atMostSeconds: 600) { [accounts, window] in
            while next < count, load.counters.requestsOutstanding < window {
                var bytes: [UInt8] = []
                build(next, &bytes)
                load.request(bytes, by: next % accounts)
                next += 1
            }
            return next == count && load.counters.requestsOutstanding == 0
        }
    }
}
