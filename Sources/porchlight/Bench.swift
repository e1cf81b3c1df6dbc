// `porchlight bench`: what every scenario takes, and the fan-out. Each scenario is a struct of
// settings in PresenceBench; here they get their options.

import ArgumentParser
import EventLoop
import Foundation
import PresenceBench

struct BenchVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Put a load on the service and measure.",
        discussion: """
            Starts a service of its own, on an empty database and on another processor, unless it
            is told of one with --connect. What is lost, doubled or wrong fails the run.
            """,
        subcommands: [
            BenchFanout.self, BenchConnections.self, BenchSubscribe.self, BenchStorm.self,
            BenchRestart.self, BenchCelebrity.self, BenchMixed.self,
            BenchFloorServer.self,
        ])
}

/// What every scenario takes.
struct BenchArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A service that runs already, instead of one started for this. It needs --auth open, "
                + "--rate-limits off and, for storm, --disconnect-grace 60.",
            valueName: "host:port"))
    var connect: String?

    @Option(
        help: ArgumentHelp(
            "The process of the service given with --connect, to read its CPU time.",
            valueName: "number"))
    var process: Int32?

    @Option(
        help: ArgumentHelp(
            "A file whose first line is an app server's key for it.", valueName: "file"))
    var serverKey: String?

    @Option(help: ArgumentHelp("Fixes names, order and jitter.", valueName: "number"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "An option for the service that is started, such as durability=relaxed; may stand "
                + "several times.", valueName: "name=value"))
    var serve: [String] = []

    @Flag(help: "Print one object of JSON, for programs.")
    var json = false

    @Option(
        help: ArgumentHelp("Draw the distribution of latencies as SVG.", valueName: "file"))
    var plot: String?

    func options() throws -> BenchOptions {
        let seed = self.seed ?? UInt64.random(in: 0..<1_000_000)
        guard let connect else {
            let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let more = serve.map { "--\($0)" }
            return BenchOptions(target: .child(executable: path, options: more), seed: seed)
        }
        guard let address = parseAddress(connect) else {
            throw ValidationError(
                "--connect \(connect) is no address: give a host and a port, such as "
                    + "127.0.0.1:7400.")
        }
        let target = ListenAddress(host: address.host, port: address.port)
        return BenchOptions(
            target: .running(target, process: process), seed: seed, serverKey: try key())
    }

    private func key() throws -> String? {
        try serverKey.map {
            try CredentialFile(path: $0, flag: "--server-key", content: "key").firstLine()
        }
    }

    /// Runs a scenario and shows what it has found.
    func show(_ scenario: (BenchOptions) throws -> Report) throws {
        let options = try options()
        let report: Report
        do {
            report = try scenario(options)
        } catch let failure as BenchFailure {
            throw Failure("\(failure) (--seed \(options.seed))")
        }
        announce(json ? report.json : report.table)
        guard let plot else { return }
        do {
            try Data(report.plot.utf8).write(to: URL(filePath: plot))
        } catch {
            throw Failure("The plot cannot be written to \(plot): \(error.localizedDescription)")
        }
    }
}

/// How long it is measured.
struct BenchLength: ParsableArguments {
    @Option(help: ArgumentHelp("Seconds for which it is measured.", valueName: "s"))
    var duration = 10.0

    @Option(help: "How many are measured, instead of for how long.")
    var events: Int?

    var end: Fanout.End { events.map { .events($0) } ?? .seconds(duration) }
}

struct BenchFanout: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout", abstract: "CPU time and latency of a delivery.")

    @Option(help: "Accounts, all online.")
    var accounts = 1_000

    @Option(help: "Accounts in a group: each watches all others.")
    var group = 100

    @Option(help: "single: one event at a time. saturated: as many as --window allows.")
    var mode = Mode.single

    @Option(help: "Deliveries that are out at a time in mode saturated.")
    var window = 20_000

    @Option(help: "Events a second in mode paced.")
    var rate = 100

    @Flag(help: "Measure the least that it can cost, too: ready-made bytes, written.")
    var floor = false

    @OptionGroup var length: BenchLength
    @OptionGroup var bench: BenchArguments

    enum Mode: String, ExpressibleByArgument, CaseIterable { case single, saturated, paced }

    func run() throws {
        var fanout = Fanout()
        fanout.accounts = accounts
        fanout.group = group
        fanout.end = length.end
        fanout.isFloorMeasured = floor
        switch mode {
        case .single: fanout.pace = .single
        case .saturated: fanout.pace = .saturated(window: window)
        case .paced: fanout.pace = .paced(perSecond: max(rate, 1))
        }
        try bench.show(fanout.run)
    }
}

/// What `fanout --floor` starts.
struct BenchFloorServer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "floor-server", shouldDisplay: false)

    @Option var listen: String
    @Option var group: Int

    func run() throws {
        guard let address = parseAddress(listen), group >= 1 else {
            throw ValidationError("--listen takes an address, --group a number from 1.")
        }
        do {
            try Floor.serve(host: address.host, port: address.port, group: group) {
                announce("ready on \($0)")
            }
        } catch {
            throw Failure("Cannot listen on \(listen) (\(error)).")
        }
    }
}
