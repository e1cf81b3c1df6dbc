// The options of the scenarios that measure what a client or a request costs.

import ArgumentParser
import PresenceBench

struct BenchConnections: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections", abstract: "Measure memory and CPU time of idle clients.",
        usage: "porchlight bench connections [<options>]")

    @Option(help: "Clients, all online.")
    var accounts = 10_000

    @Flag(help: "As many clients as there are descriptors.")
    var most = false

    @Option(help: "Accounts in a group: each subscribes to all others. 1: no subscriptions.")
    var group = 100

    @Option(help: ArgumentHelp("Seconds that they idle.", valueName: "s"))
    var duration = 20.0

    @Option(help: ArgumentHelp("Seconds between keep-alive frames of a client.", valueName: "s"))
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
        commandName: "subscribe",
        abstract: "Measure CPU time of creating and renewing subscriptions.",
        usage: "porchlight bench subscribe [<options>]")

    @Option(help: "Accounts, all online.")
    var accounts = 5_000

    @Option(help: "Accounts in a group: each subscribes to all others, 100 per request.")
    var group = 101

    @Option(help: "Requests in flight.")
    var window = 512

    @Option(name: .customLong("events"), help: "Times that all subscriptions are renewed.")
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

struct BenchMessages: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages",
        abstract: "Measure CPU time of messages that are sent, stored, delivered and taken.",
        usage: "porchlight bench messages [<options>]")

    @Option(help: "Accounts, all online.")
    var accounts = 1_000

    @Option(help: "Messages that each sends, to the next account.")
    var messages = 20

    @Option(help: "Bytes of text of a message.")
    var bodyBytes = 200

    @Option(help: "Requests in flight.")
    var window = 256

    @Option(help: "Messages that wait for accounts that are not online.")
    var waiting = 0

    @OptionGroup var bench: BenchArguments

    func run() throws {
        var messaging = Messaging()
        messaging.accounts = accounts
        messaging.messages = messages
        messaging.bodyBytes = bodyBytes
        messaging.window = window
        messaging.waiting = waiting
        try bench.show(messaging.run)
    }
}

struct BenchCelebrity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "celebrity",
        abstract: "Measure one publisher with many subscribers, while other clients ping.",
        usage: "porchlight bench celebrity [<options>]")

    @Option(help: "Subscribers online.")
    var accounts = 10_000

    @Option(help: "Subscribers offline.")
    var offline = 0

    @Option(help: "Events per second of the publisher.")
    var rate = 2.0

    @Option(help: "Pings per second of twenty other clients together.")
    var pings = 200

    @Option(help: ArgumentHelp("Seconds to measure.", valueName: "s"))
    var duration = 10.0

    @Flag(
        help: ArgumentHelp(
            "Count and discard the bytes of the subscribers, except one in 64. The load then "
                + "needs a tenth of the CPU time. With --connect: set the service's heartbeat to "
                + "300."))
    var drain = false

    @OptionGroup var bench: BenchArguments

    func run() throws {
        var celebrity = Celebrity()
        celebrity.subscribers = accounts
        celebrity.offline = offline
        celebrity.rate = rate
        celebrity.pingsPerSecond = pings
        celebrity.seconds = duration
        celebrity.isDrained = drain
        try bench.show(celebrity.run)
    }
}

struct BenchMixed: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mixed", abstract: "Measure a mix of requests, as an app makes them.",
        usage: "porchlight bench mixed [<options>]")

    @Option(help: "Accounts, all online.")
    var accounts = 2_000

    @Option(help: "Accounts in a group: each subscribes to all others.")
    var group = 100

    @Option(help: "Actions per second of all clients together.")
    var rate = 500

    @Option(help: "Share of logouts followed by a login.")
    var logins = 5

    @Option(help: "Share of lost connections that reconnect immediately.")
    var returns = 5

    @Option(help: "Share of new statuses.")
    var statuses = 40

    @Option(help: "Share of renewed subscriptions.")
    var renewals = 20

    @Option(help: "Share of queries by an app server.")
    var queries = 10

    @Option(help: "Share of pings.")
    var pings = 20

    @Option(
        help: ArgumentHelp(
            "Messages per second that other accounts exchange, in every other phase of the run. "
                + "Commits of statuses and renewals are compared with those of the other phases.",
            valueName: "number"))
    var messages = 0

    @Option(help: ArgumentHelp("Seconds to measure.", valueName: "s"))
    var duration = 20.0

    @OptionGroup var bench: BenchArguments

    func validate() throws {
        guard (0...Mixed.messagesMax).contains(messages) else {
            throw ValidationError(
                "--messages \(messages): give a number from 0 to \(Mixed.messagesMax), messages "
                    + "per second.")
        }
        guard messages == 0 || statuses > 0 || renewals > 0 else {
            throw ValidationError(
                "--messages compares the commits of statuses and renewals: give --statuses or "
                    + "--renewals a share.")
        }
    }

    func run() throws {
        var mixed = Mixed()
        mixed.messages = messages
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
