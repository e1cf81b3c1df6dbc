import ArgumentParser
import Foundation
import PresenceClient

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what keeps the service busy, live.",
        discussion: """
            The busiest publishers and the rates of the last minute, those who do not take what
            they are sent, the store and the memory. On a terminal it is shown again and again,
            until ^C; into a pipe, once.
            """)

    @Option(help: "How many publishers and readers are shown: 1 to 100.")
    var limit = 10

    @Option(help: "Seconds between two looks: 1 to 3600.")
    var every = 2

    @Flag(help: "Show it once.")
    var once = false

    @Flag(help: "Print each look as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: AppServerOptions

    func validate() throws {
        guard (1...100).contains(limit) else {
            throw ValidationError("--limit \(limit) is out of its range: give 1 to 100.")
        }
        guard (1...3_600).contains(every) else {
            throw ValidationError("--every \(every) is out of its range: give 1 to 3600 seconds.")
        }
    }

    func run() throws {
        try report {
            let client = try server.open()
            let isLive = !once && isatty(STDOUT_FILENO) == 1
            let interrupts = Interrupts()
            var before: JSON?
            repeat {
                let facts = try client.call("top", ["limit": .integer(Int64(limit))])
                if json {
                    announce(facts.text)
                } else {
                    let screen = TopScreen(facts, before: before, style: Style())
                    if isLive { announce("\u{1b}[H\u{1b}[J", terminator: "") }
                    for line in screen.lines { announce(line) }
                }
                before = facts
                guard isLive else { break }
                try wait(client, interrupts)
            } while !interrupts.hasCome
        }
    }

    /// Waits for the next look, and hears when the service goes.
    private func wait(_ client: Client, _ interrupts: Interrupts) throws {
        try client.keepAlive()
        let end = Date().addingTimeInterval(Double(every))
        while !interrupts.hasCome, end > Date() {
            guard let notification = try client.nextNotification(withinMilliseconds: 200) else {
                continue
            }
            if notification.method == "close" { throw client.closed(notification.params) }
        }
    }
}
