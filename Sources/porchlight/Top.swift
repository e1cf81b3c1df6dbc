import ArgumentParser
import CommandSupport
import Foundation
import PresenceClient

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what keeps the service busy, live.",
        usage: "porchlight top [<options>]",
        discussion: """
            Shows the busiest publishers and the rates of the last minute, the clients that do \
            not read fast enough, the store and the memory. On a terminal it updates until q or \
            ^C; into a pipe it prints once.
            """)

    @Option(help: "Publishers and clients to show: 1 to 100.")
    var limit = 10

    @Option(help: "Seconds between updates: 1 to 3600.")
    var every = 2

    @Flag(help: "Print once and exit.")
    var once = false

    @Flag(help: "Print each sample as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: AppServerOptions

    func validate() throws {
        guard (1...100).contains(limit) else {
            throw ValidationError("--limit \(limit) is out of range: give 1 to 100.")
        }
        guard (1...3_600).contains(every) else {
            throw ValidationError("--every \(every) is out of range: give 1 to 3600 seconds.")
        }
    }

    func run() throws {
        try report {
            let client = try server.open()
            guard !once, isatty(STDOUT_FILENO) == 1 else {
                return try show(try sample(client), before: nil)
            }
            let interrupts = Interrupts()
            let keys = KeyPresses()
            var keepAlive = KeepAlive(heartbeatSeconds: KeepAlive.heartbeatSecondsMin)
            var before: JSON?
            repeat {
                let facts = try sample(client)
                if !json { try announce("\u{1b}[H\u{1b}[J", terminator: "") }
                try show(facts, before: before)
                before = facts
            } while try isToUpdate(client, interrupts, keys, &keepAlive)
        }
    }

    private func sample(_ client: Client) throws -> JSON {
        try client.call("top", ["limit": .integer(Int64(limit))])
    }

    private func show(_ facts: JSON, before: JSON?) throws {
        guard !json else { return try announce(facts.text) }
        for line in TopScreen(facts, before: before, style: Style()).lines { try announce(line) }
    }

    /// Waits for the next update; false on q or ^C.
    private func isToUpdate(
        _ client: Client, _ interrupts: Interrupts, _ keys: KeyPresses,
        _ keepAlive: inout KeepAlive
    ) throws -> Bool {
        let end = Date().addingTimeInterval(Double(every))
        while end > Date() {
            try keepAlive.send(to: client)
            while let key = keys.next() {
                if key == "q" || key == "Q" { return false }
            }
            if interrupts.hasCome { return false }
            guard let notification = try client.nextNotification(withinMilliseconds: 100) else {
                continue
            }
            if notification.method == "close" { throw client.closed(notification.params) }
        }
        return !interrupts.hasCome
    }
}
