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
