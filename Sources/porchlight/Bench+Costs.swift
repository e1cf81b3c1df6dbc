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

    @Option(help: ArgumentHelp("Seconds between a client's signs of life.", valueName: "s"))
    var keepAlive = 27.0

    @OptionGroup var bench: BenchArguments

    func run() throws {
        var connections = Connections()
        connections.accounts = most ? nil : accounts
        connections.group = group
        connections.seconds = duration
        connections.keepAliveSeconds = max(keepAlive, 0.1)
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

struct BenchMixed: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mixed", abstract: "A day of an app, in proportions that can be set.")

    @Option(help: "Accounts, all online.")
    var accounts = 2_000

    @Option(help: "Accounts in a group: each watches all others.")
    var group = 100

    @Option(help: "Things that clients do a second, of all together.")
    var rate = 500

    @Option(help: "The share of logging out and in again.")
    var logins = 5

    @Option(help: "The share of lost connections that return at once.")
    var returns = 5

    @Option(help: "The share of new statuses.")
    var statuses = 40

    @Option(help: "The share of renewed subscriptions.")
    var renewals = 20

    @Option(help: "The share of queries by an app server.")
    var queries = 10

    @Option(help: "The share of pings.")
    var pings = 20

    @Option(help: ArgumentHelp("Seconds for which it is measured.", valueName: "s"))
    var duration = 20.0

    @OptionGroup var bench: BenchArguments

    func run() throws {
        var mixed = Mixed()
        mixed.accounts = accounts
        mixed.group = group
        mixed.rate = rate
        mixed.seconds = duration
        mixed.shares.logins = logins
        mixed.shares.returns = returns
        mixed.shares.statuses = statuses
        mixed.shares.renewals = renewals
        mixed.shares.queries = queries
        mixed.shares.pings = pings
        try bench.show(mixed.run)
    }
}
