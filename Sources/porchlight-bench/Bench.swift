// `porchlight bench`, which starts this program: the options of all scenarios. Each scenario, with
// its own options, is a struct in PresenceBench.

import ArgumentParser
import CommandSupport
import EventLoop
import Foundation
import PresenceBench

/// The command. `porchlight bench` is this program.
@main
struct PorchlightBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "porchlight bench",
        abstract: "Run a load test and measure.",
        discussion: """
            Starts a service of its own, with an empty database and on another processor, unless \
            --connect names one. A lost, duplicated or wrong event fails the run.
            """,
        version: "porchlight-bench \(programVersion)",
        subcommands: [
            BenchScenario<Fanout>.self, BenchScenario<Connections>.self,
            BenchScenario<Subscribing>.self, BenchScenario<Storm>.self,
            BenchScenario<Restart>.self, BenchScenario<Celebrity>.self,
            BenchScenario<Flood>.self, BenchScenario<Mixed>.self, BenchScenario<Messaging>.self,
            BenchFloorServer.self,
        ])

    static func main() {
        Descriptors.reserveStandard()
        watchOutput()
        let words = Array(CommandLine.arguments.dropFirst())
        if let message = unknownSubcommand(in: words, of: Self.self) {
            note("Error: \(message)")
            exit(withError: ExitCode.validationFailure)
        }
        main(words)
    }
}

/// Options of every scenario.
struct BenchArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Test the service at this address instead of starting one. It needs --auth open, "
                + "--rate-limits off and, for storm, --disconnect-grace 60.",
            valueName: "host:port"))
    var connect: String?

    @Option(
        help: ArgumentHelp(
            "The process ID of the service given with --connect, to read its CPU time.",
            valueName: "number"))
    var process: Int32?

    @Option(
        help: ArgumentHelp(
            "With --connect, log in with the app server's key in the first line of this file.",
            valueName: "file"))
    var serverKey: String?

    @OptionGroup var tls: TLSOptions

    @Option(help: ArgumentHelp("Make names, order and jitter repeatable.", valueName: "number"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "An option for the service that is started, such as durability=relaxed; may be "
                + "repeated.", valueName: "name=value"))
    var serve: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Let the service that is started use all processors instead of one, for example with "
                + "--serve loops=2."))
    var allProcessors = false

    @Flag(help: "Print one object of JSON, for programs.")
    var json = false

    func options() throws -> BenchOptions {
        let seed = self.seed ?? UInt64.random(in: 0..<1_000_000)
        guard let connect else {
            let more = serve.map { "--\($0)" }
            var options = BenchOptions(
                target: .child(executable: try Self.service(), options: more), seed: seed)
            if allProcessors { options.placement = .allProcessors }
            return options
        }
        let address = try Self.parts(ofAddress: connect)
        let target = ListenAddress(host: address.host, port: address.port)
        return BenchOptions(
            target: .running(target, process: process, tls: try tls(of: address.host)),
            seed: seed, serverKey: try key())
    }

    /// The service's program: the one that has started this, or the one beside it.
    private static func service() throws -> String {
        if let named = ProcessInfo.processInfo.environment["PORCHLIGHT_BIN"] { return named }
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: program).deletingLastPathComponent().appending(path: "porchlight")
            .path
    }

    private func tls(of host: String) throws -> BenchTLS? {
        guard let trust = try tls.trust() else { return nil }
        return BenchTLS(
            trust, serverName: host, wallSeconds: Int64(Date().timeIntervalSince1970))
    }

    func validate() throws {
        if let connect { _ = try Self.parts(ofAddress: connect) }
        guard !tls.isOn || connect != nil else {
            throw ValidationError("--tls is for a service that runs: add --connect.")
        }
    }

    private static func parts(ofAddress text: String) throws -> (host: String, port: UInt16) {
        do throws(AddressError) {
            return try addressParts(text)
        } catch {
            throw ValidationError(
                "--connect \(cut(text)) \(error.words): give a host and a port, such as "
                    + "127.0.0.1:7400.")
        }
    }

    private func key() throws -> String? {
        try serverKey.map {
            try CredentialFile(path: $0, flag: "--server-key", content: "key").firstLine()
        }
    }

    /// Runs a scenario and prints its report.
    func show(_ scenario: (BenchOptions) throws -> Report) throws {
        let options = try options()
        let report: Report
        do {
            report = try scenario(options)
        } catch let failure as BenchError {
            throw CommandError("\(failure) (--seed \(options.seed))")
        }
        try announce(json ? report.json : report.table)
    }
}

/// A scenario as a subcommand: its own options, then those of every scenario.
struct BenchScenario<Settings: Scenario>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Settings.name, abstract: Settings.abstract,
            usage: "porchlight bench \(Settings.name) [<options>]")
    }

    @OptionGroup var scenario: Settings
    @OptionGroup var bench: BenchArguments

    func run() throws { try bench.show(scenario.run) }
}

/// The server that `fanout --floor` and Benchmarks/peers start.
struct BenchFloorServer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "floor-server", shouldDisplay: false)

    @Option var accounts: UInt32
    @Option var group: UInt32
    @Option var eventBytes: UInt32 = 0
    @Option var fault = ""

    func run() throws {
        guard accounts >= 1, group >= 1 else {
            throw ValidationError("--accounts and --group take a number from 1.")
        }
        Floor.serve(accounts: accounts, group: group, eventBytes: eventBytes, fault: fault)
    }
}
