import ArgumentParser
import PresenceBench

struct BenchStorm: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm",
        abstract: "All clients lose their connections at once and return at once.")

    @Option(help: "Clients, all online.")
    var accounts = 15_000

    @Option(help: "How many others each watches.")
    var group = 100

    @Option(help: "How the connections end.")
    var drop = DropOption.reset

    @Option(help: "How often it is done, one after the other.")
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
        abstract: "The service ends and starts again on the same data, with everybody online.")

    @Option(help: "Clients, all online.")
    var accounts = 15_000

    @Option(help: "How many others each watches.")
    var group = 100

    @Option(help: "Subscriptions of accounts that are not online, besides.")
    var stored = 0

    @Option(help: "How the service ends: in order (SIGTERM), at once (SIGKILL), or one each.")
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
