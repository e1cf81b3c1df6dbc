import ArgumentParser
import CommandSupport
import Foundation
import PresenceClient

struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the service's counters.",
        usage: "porchlight stats [<options>]")

    @Flag(help: "Print one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: AppServerOptions

    func run() throws {
        try report {
            let stats = try server.open().call("stats")
            guard !json, case .object(let counters) = stats else { return try announce(stats.text) }
            let width = counters.keys.map(\.count).max() ?? 0
            for (name, value) in counters.sorted(by: { $0.key < $1.key }) {
                try announce(
                    name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + value.text)
            }
        }
    }
}
