import ArgumentParser
import CommandSupport
import Foundation
import PresenceClient
import PresenceCore

struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show changes of accounts live, one line each.",
        usage: "porchlight watch <account> ... [<options>]",
        discussion: """
            Logs in as an account of its own, subscribes for an hour, renews the subscription \
            while it runs, and on ^C unsubscribes and logs out. With --as or a token it logs in \
            as that account, and leaves its subscriptions to expire: the account may have had \
            them before. If the service is lost, it tries again at growing intervals.
            """)

    @Argument(help: ArgumentHelp("The accounts to watch.", valueName: "account"))
    var accounts: [String]

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "Log in as this account; a token must be for the same account. (default: an account "
                + "of this process, such as \(accountPrefix)HOST-4711)", valueName: "account"))
    var watcher: String?

    @OptionGroup var state: StateOptions

    @Flag(help: "Print each state as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: ServerOptions

    private static let accountPrefix = "porchlight-watch-"
    private static let expirySeconds: Int64 = 3_600
    private static let publishersPerRequest = 100
    private static let words = ["publishers": "ACCOUNT", "type": "--type"]

    func validate() throws {
        try state.checkAccounts(
            accounts, as: "ACCOUNT", countMax: state.limits?.subscriptionsPerAccountMax)
        if let watcher { try state.checkAccount(watcher, as: "--as") }
        try server.checkPassword(of: watcher, by: "--as")
    }

    func run() throws {
        let own = Self.accountPrefix + processName()
        let chosen = ChosenAccount(name: watcher, by: "--as", standard: own)
        // An account may be sent more than was asked for here: it can have other subscriptions.
        let wanted = Set(accounts.map { Array($0.utf8) })
        var renewed = Date()
        let session = CommandSession(
            begin: { open in
                for state in try subscribe(open.client, answer: .withStates) { try show(state) }
                renewed = Date()
            },
            receive: { notification in
                guard notification.method == "events" else { return }
                for event in notification.params["events"]?.array ?? []
                where isWanted(event, wanted) { try show(event) }
            },
            renew: { client in
                guard Date().timeIntervalSince(renewed) > Double(Self.expirySeconds) / 2 else {
                    return
                }
                _ = try subscribe(client, answer: .withoutStates)
                renewed = Date()
            },
            end: { client, account in if account == own { try unsubscribe(client) } })
        try server.hold(session, of: chosen, from: "watch")
    }

    private enum Answer { case withStates, withoutStates }

    /// Subscribes, or renews; returns the states if they are wanted.
    private func subscribe(_ client: Client, answer: Answer) throws -> [JSON] {
        var states: [JSON] = []
        for publishers in parts {
            let result = try naming(Self.words) {
                try client.call(
                    "subscribe",
                    [
                        "type": .integer(Int64(state.type)),
                        "expiry": .integer(Self.expirySeconds), "publishers": publishers,
                        "sync": .bool(answer == .withStates),
                    ])
            }
            states += result["states"]?.array ?? []
        }
        return states
    }

    private func unsubscribe(_ client: Client) throws {
        for publishers in parts {
            _ = try client.call(
                "unsubscribe", ["type": .integer(Int64(state.type)), "publishers": publishers])
        }
    }

    /// The accounts to watch, in parts that fit into one request.
    private var parts: [JSON] {
        stride(from: 0, to: accounts.count, by: Self.publishersPerRequest).map { start in
            let end = min(start + Self.publishersPerRequest, accounts.count)
            return .array(accounts[start..<end].map { .string($0) })
        }
    }

    private func isWanted(_ event: JSON, _ wanted: Set<[UInt8]>) -> Bool {
        event["type"]?.integer == Int64(state.type)
            && wanted.contains(Array((event["publisher"]?.string ?? "").utf8))
    }

    private func show(_ event: JSON) throws {
        try announce(json ? event.text : StateLine(style: Style()).line(event))
    }
}

/// A name that no other process uses at the same time, here or on another machine.
private func processName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    let isKnown = unsafe gethostname(&buffer, buffer.count - 1) == 0
    let bytes = isKnown ? buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) } : []
    let host = String(decoding: bytes, as: UTF8.self)
        .filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
        .prefix(24)
    let process = "\(ProcessInfo.processInfo.processIdentifier)"
    return host.isEmpty ? process : "\(host)-\(process)"
}
