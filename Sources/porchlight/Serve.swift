// `porchlight serve`: what was typed is checked, made into a configuration, and run.

import ArgumentParser
import Foundation
import Logging
import PresenceCore
import PresenceServer
import PresenceStore
import PresenceTokens

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Prints one line when it is ready, and ends with exit code 0 on SIGTERM or SIGINT,
            after it has told everybody and committed everything.
            """)

    @Option(help: "Where clients connect: a numeric address and a port; port 0 is any.")
    var listen = "127.0.0.1:7400"

    @Option(help: ArgumentHelp("The folder with the database.", valueName: "dir"))
    var data = "./data"

    @Option(help: "Who may log in. open: everybody, as anybody.")
    var auth = AuthenticationMode.open

    @Flag(
        name: .customLong("i-know-this-is-open"),
        help: "Let everybody log in as anybody from other machines, too.")
    var isKnownToBeOpen = false

    @Option(
        help: ArgumentHelp(
            "A file with keys for app servers, a line each, as `porchlight key` makes them.",
            valueName: "file"))
    var serverKey: String?

    @Option(help: "When a change counts as kept. full: it survives a loss of power.")
    var durability = DurabilityOption.full

    @Option(
        help: ArgumentHelp(
            "Seconds between a lost connection and its event, 0 to 300.", valueName: "s"))
    var disconnectGrace = 5

    @Option(
        help: ArgumentHelp(
            "Seconds for which sessions wait for their devices after a restart, 0 to 600.",
            valueName: "s"))
    var restartGrace = 30

    @Option(
        help: ArgumentHelp(
            "Seconds within which a client must send something, 5 to 300.", valueName: "s"))
    var heartbeat = 30

    @Option(help: "What a push-reachable device is when its connection is lost.")
    var pushReachable = PushReachableOption.online

    @Option(
        help: ArgumentHelp(
            "How many subscribers a publisher may have for one type; any number if not given.",
            valueName: "n"))
    var subscribersMax: Int?

    @Option(help: "Limits on pace; off is for load tests.")
    var rateLimits = Switch.on

    @Option(help: ArgumentHelp("What the log on standard error holds.", valueName: "level"))
    var logLevel = LogLevelOption.notice

    func validate() throws {
        try check("--disconnect-grace", disconnectGrace, 0...300)
        try check("--restart-grace", restartGrace, 0...600)
        try check("--heartbeat", heartbeat, 5...300)
        if let subscribersMax, subscribersMax < 1 {
            throw ValidationError(
                "--subscribers-max \(subscribersMax) is no limit: give 1 or more.")
        }
        _ = try address()
    }

    func run() throws {
        let logLevel = self.logLevel.level
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = logLevel
            return handler
        }
        let logger = Logger(label: "porchlight")
        do {
            var configuration = try settings()
            let keys = try readServerKeys(from: serverKey, logger: logger)
            configuration.authenticator = Doorkeeper(keys: KeyRing(keys))
            let service = try Service(configuration, logger: logger)
            let address = service.address
            try service.run(signals: [SIGTERM, SIGINT]) { announce("ready on \(address)") }
        } catch let refusal as ServiceRefusal {
            throw Failure(refusal.description)
        }
    }

    private func settings() throws -> Configuration {
        let address = try address()
        var configuration = Configuration()
        configuration.host = address.host
        configuration.port = address.port
        configuration.dataDirectory = data
        configuration.version = programVersion
        configuration.durability = durability == .full ? .full : .relaxed
        if rateLimits == .off { configuration.switchOffPace() }
        configuration.engine.subscribersPerPublisherMax = subscribersMax
        configuration.engine.disconnectGraceSeconds = disconnectGrace
        configuration.engine.restartGraceSeconds = restartGrace
        configuration.engine.heartbeatSeconds = heartbeat
        configuration.engine.pushReachable = pushReachable == .online ? .online : .offline
        return configuration
    }

    private func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws {
        guard !range.contains(value) else { return }
        throw ValidationError(
            "\(name) \(value) is out of its range: give \(range.lowerBound) to "
                + "\(range.upperBound) seconds.")
    }

    private func address() throws -> (host: String, port: UInt16) {
        guard var address = parseAddress(listen) else {
            throw ValidationError(
                "--listen \(listen) is no address: give a numeric address and a port, such as "
                    + "127.0.0.1:7400 or [::1]:7400.")
        }
        if address.host == "localhost" { address.host = "127.0.0.1" }
        let isLoopback = address.host.hasPrefix("127.") || address.host == "::1"
        guard isLoopback || isKnownToBeOpen else {
            throw ValidationError(
                "--auth open on \(address.host) would let everybody who reaches it log in as "
                    + "anybody: listen on 127.0.0.1, or give --i-know-this-is-open, too.")
        }
        return address
    }
}

enum AuthenticationMode: String, ExpressibleByArgument, CaseIterable { case open }
enum DurabilityOption: String, ExpressibleByArgument, CaseIterable { case full, relaxed }
enum PushReachableOption: String, ExpressibleByArgument, CaseIterable { case online, offline }
enum Switch: String, ExpressibleByArgument, CaseIterable { case on, off }
/// What the log holds at least.
enum LogLevelOption: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .notice }
}
