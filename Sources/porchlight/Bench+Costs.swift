import ArgumentParser
import PresenceBench

struct BenchConnections: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections", abstract: "Memory and CPU time of clients that do nothing.")

    @Option(help: "Clients, all online.")
    var accounts = 10_000

    @Flag(help: "As many clients as there can be descriptors.")
    var most = false

    @Option(help: "Accounts in a group: each watches all others. 1: nobody does.")
    var group = 100

    @Option(help: ArgumentHelp("Seconds for which they idle.", valueName: "s"))
    var duration = 20.0

    @OptionGroup var bench: BenchArguments

    func run() throws {
        var connections = Connections()
        connections.accounts = most ? nil : accounts
        connections.group = group
        connections.seconds = duration
        try bench.show(connections.run)
    }
}

struct BenchSubscribe: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe", abstract: "CPU time of making and renewing subscriptions.")

    @Option(help: "Accounts, all online.")
    var accounts = 5_000

    @Option(help: "Accounts in a group: each subscribes to all others, 100 in a request.")
    var group = 101

    @Option(help: "Requests that are out at a time.")
    var window = 512

    @Option(name: .customLong("events"), help: "How often all subscriptions are renewed.")
    var renewals = 3

    @OptionGroup var bench: BenchArguments

    func run() throws {
        var subscribing = Subscribing()
        subscribing.accounts = accounts
        subscribing.group = group
        subscribing.window = window
        subscribing.renewals = renewals
        try bench.show(subscribing.run)
    }
}

struct BenchCelebrity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "celebrity",
        abstract: "One publisher whom many watch, while others ping.")

    @Option(help: "Followers that are online.")
    var accounts = 10_000

    @Option(help: "Followers that are not.")
    var offline = 0

    @Option(help: "Events a second of the celebrity.")
    var rate = 2.0

    @Option(help: "Pings a second, of twenty other clients together.")
    var pings = 200

    @Option(help: ArgumentHelp("Seconds for which it is measured.", valueName: "s"))
    var duration = 10.0

    @OptionGroup var bench: BenchArguments

    func run() throws {
        var celebrity = Celebrity()
        celebrity.followers = accounts
        celebrity.offline = offline
        celebrity.rate = rate
        celebrity.pingsPerSecond = pings
        celebrity.seconds = duration
        try bench.show(celebrity.run)
    }
}
