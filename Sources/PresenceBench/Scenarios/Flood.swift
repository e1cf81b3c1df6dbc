import ArgumentParser
import PresenceWire

/// `porchlight bench flood`: many clients send large requests as fast as they are answered, while
/// others ping.
package struct Flood: Scenario {
    package static let name = "flood"
    package static let abstract =
        "Measure clients that send large requests at once, while other clients ping."

    @Option(help: "Clients that send large requests.") var clients = 200
    @Option(help: "Bytes of a large request.") var requestBytes = 53_000
    @Option(help: "Bytes that each client sends before it waits for an answer.")
    var bytesAtOnce = 212_000
    @Option(help: "Pings per second of ten other clients together.") var pings = 200
    @Option(help: ArgumentHelp("Seconds to measure.", valueName: "s")) var duration = 10.0

    package init() {}

    private static let pingingClients = 10

    /// Runs it.
    ///
    /// - Throws: what went wrong, such as a request that was not answered.
    package func run(_ options: BenchOptions) throws(BenchError) -> Report {
        guard clients >= 1, (200...65_536).contains(requestBytes), bytesAtOnce >= requestBytes,
            pings >= 1
        else {
            throw BenchError(
                "The scenario needs a client, requests of 200 to 65536 bytes, at least one at "
                    + "once, and a ping per second.")
        }
        let bench = try Bench(options, connections: clients + Self.pingingClients)
        defer { bench.end() }
        let load = bench.load
        load.loginList = .none
        try load.arrive(0..<clients)
        let pinging = Pings.Run(
            accounts: clients..<clients + Self.pingingClients, perSecond: pings,
            seed: options.seed)
        let quiet = try pinging.run(load, seconds: duration / 4, "pings in peace")
        let senders = LargeRequests(load, clients: clients, bytes: requestBytes)
        load.observer = senders
        let before = bench.sample()
        senders.begin(atOnce: bytesAtOnce / requestBytes)
        let busy = try pinging.run(load, seconds: duration, "pings meanwhile")
        let answered = senders.answeredCount
        let after = bench.sample()
        senders.isOver = true
        try load.wait(for: "the last answers", atMostSeconds: 120) {
            load.counters.requestsOutstanding == 0
        }

        var report = Report(Self.name, options)
        report.set("clients", clients)
        report.set("bytes a request", requestBytes)
        report.set("requests at once", bytesAtOnce / requestBytes)
        report.add("ping in peace", quiet)
        report.add("ping meanwhile", busy)
        report.add("longest ping meanwhile", busy.maxMilliseconds, "ms", digits: 1)
        report.add("pings meanwhile", Int(busy.count))
        report.add("large requests answered", answered)
        report.add("fewest of a client", senders.fewestAnswered)
        report.addCPU("large request", from: before, to: after, per: answered)
        return report
    }
}

/// Requests that are large, and much work to read: pings with an object of many members.
final class LargeRequests: LoadObserver {
    var isOver = false
    private(set) var answeredCount = 0
    private let load: Load
    private let frame: [UInt8]
    private var answered: [Int]

    init(_ load: Load, clients: Int, bytes: Int) {
        self.load = load
        answered = Array(repeating: 0, count: clients)
        var frame: [UInt8] = []
        frame.appendLargePing(bodyBytes: bytes)
        self.frame = frame
    }

    /// The requests that were answered to the client with the fewest.
    var fewestAnswered: Int { answered.min() ?? 0 }

    /// Has each client send some; for each answer, it sends another.
    func begin(atOnce: Int) {
        for client in answered.indices {
            for _ in 0..<atOnce { load.request(frame, by: client) }
        }
    }

    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan) {
        guard kind == .ping, answered.indices.contains(client) else { return }
        answered[client] += 1
        answeredCount += 1
        if !isOver { load.request(frame, by: client) }
    }
}
