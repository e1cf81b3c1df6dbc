import ArgumentParser
import Foundation
import PresenceClient

struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what accounts do, live: a line a change.",
        discussion: """
            Logs in, subscribes for an hour and renews that while it runs. When the service is
            away it tries again, ever more slowly, until it is back.
            """)

    @Argument(help: ArgumentHelp("Whom to watch.", valueName: "account"))
    var accounts: [String]

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The account that watches; a token says it by itself, and must be this account's. "
                + "(default: \(standardWatcher))", valueName: "account"))
    var watcher: String?

    @Option(help: "The type of state: 1 is presence, 100 and up are an app's own.")
    var type = 1

    @Flag(help: "Print each state as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: ServerOptions

    private static let standardWatcher = "porchlight-watch"
    private static let expirySeconds: Int64 = 3_600

    func run() throws {
        let chosen = ChosenAccount(name: watcher, by: "--as", standard: Self.standardWatcher)
        var returning = Returning()
        while true {
            do {
                let client = try server.openSession(of: chosen, from: "watch").client
                for state in try subscribe(client, answer: .withStates) { show(state) }
                returning.hasArrived()
                try follow(client)
            } catch let error as ClientError {
                try returning.wait(after: error)
            }
        }
    }

    private enum Answer { case withStates, withoutStates }

    /// Subscribes, or renews what there is; gives the states where they are wanted.
    private func subscribe(_ client: Client, answer: Answer) throws -> [JSON] {
        var states: [JSON] = []
        for start in stride(from: 0, to: accounts.count, by: 100) {
            let some = accounts[start..<min(start + 100, accounts.count)]
            let result = try client.call(
                "subscribe",
                [
                    "type": .integer(Int64(type)), "expiry": .integer(Self.expirySeconds),
                    "publishers": .array(some.map { .string($0) }),
                    "sync": .bool(answer == .withStates),
                ])
            states += result["states"]?.array ?? []
        }
        return states
    }

    /// Shows what comes, gives signs of life, and renews the subscriptions in time.
    private func follow(_ client: Client) throws {
        var renewed = Date()
        var spoken = Date()
        while true {
            if Date().timeIntervalSince(renewed) > Double(Self.expirySeconds) / 2 {
                _ = try subscribe(client, answer: .withoutStates)
                renewed = Date()
                spoken = renewed
            }
            // What comes is no sign of ours, however much it is.
            if Date().timeIntervalSince(spoken) > 10 {
                try client.keepAlive()
                spoken = Date()
            }
            guard let notification = try client.nextNotification(withinMilliseconds: 1_000) else {
                continue
            }
            switch notification.method {
            case "events":
                for event in notification.params["events"]?.array ?? [] { show(event) }
            case "close":
                throw client.closed(notification.params)
            default:
                break
            }
        }
    }

    private func show(_ event: JSON) {
        announce(json ? event.text : StateLine(style: Style()).line(event))
    }
}
