import ArgumentParser
import PresenceBench

struct BenchStorm: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm",
        abstract:
            "Measure a reconnect storm: all clients lose their connections and reconnect at once.",
        usage: "porchlight bench storm [<options>]")

    @Option(help: "Clients, all online.")
    var accounts = 15_000

    @Option(help: "Accounts that each one is subscribed to.")
    var group = 100

    @Option(help: "How the connections end.")
    var drop = DropOption.reset

    @Option(help: "Storms, one after the other.")
    var times = 1

    @OptionGroup var bench: BenchArguments

    enum DropOption: String, ExpressibleByArgument, CaseIterable { case reset, close }

    func run() throws {
        var storm = Storm()
        storm.accounts = accounts
        storm.subscriptions = group
        storm.drop = drop == .reset ? .reset : .close
        storm.times = times
        try bench.show(storm.run)
    }
}

struct BenchRestart: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart",
        abstract: "Measure a restart of the service with all clients online.",
        usage: "porchlight bench restart [<options>]")

    @Option(help: "Clients, all online.")
    var accounts = 15_000

    @Option(help: "Accounts that each one is subscribed to.")
    var group = 100

    @Option(help: "Stored subscriptions of accounts that are offline, in addition.")
    var stored = 0

    @Option(help: "How the service ends: stop (SIGTERM), kill (SIGKILL), or one each.")
    var mode = Mode.both

    @OptionGroup var bench: BenchArguments

    enum Mode: String, ExpressibleByArgument, CaseIterable { case stop, kill, both }

    func run() throws {
        var restart = Restart()
        restart.accounts = accounts
        restart.subscriptions = group
        restart.stored = stored
        switch mode {
        case .stop: restart.endings = [.stop]
        case .kill: restart.endings = [.kill]
        case .both: restart.endings = [.stop, .kill]
        }
        try bench.show(restart.run)
    }
}

struct BenchFlood: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flood",
        abstract: "Measure clients that send large requests at once, while other clients ping.",
        usage: "porchlight bench flood [<options>]")

    @Option(help: "Clients that send large requests.")
    var clients = 200

    @Option(help: "Bytes of a large request.")
    var requestBytes = 53_000

    @Option(help: "Bytes that each client sends before it waits for an answer.")
    var bytesAtOnce = 212_000

    @Option(help: "Pings per second of ten other clients together.")
    var pings = 200

    @Option(help: ArgumentHelp("Seconds to measure.", valueName: "s"))
    var duration = 10.0

    @OptionGroup var bench: BenchArguments

    func run() throws {
        var flood = Flood()
        flood.clients = clients
        flood.requestBytes = requestBytes
        flood.bytesAtOnce = bytesAtOnce
        flood.pingsPerSecond = pings
        flood.seconds = duration
        try bench.show(flood.run)
    }
}
