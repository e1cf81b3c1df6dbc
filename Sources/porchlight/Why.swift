import ArgumentParser
import CommandSupport
import PresenceClient

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain why an account sees, or does not see, another.",
        usage: "porchlight why <subscriber> <publisher> [<options>]",
        discussion: """
            Prints when the subscription began and ends, or how it ended; the connections of \
            both accounts; the publisher's recent events, and what became of each at the \
            subscriber's connections; and what became of the last ten messages between \
            them. The service keeps about the last hundred thousand events, \
            and none from before it started.
            """)

    @Argument(help: "The account that is subscribed, or should be.")
    var subscriber: String

    @Argument(help: "The account that it is subscribed to, or should be.")
    var publisher: String

    @OptionGroup var state: StateOptions

    @Flag(help: "Print the facts as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: AppServerOptions

    func validate() throws {
        try state.checkAccount(subscriber, as: "SUBSCRIBER")
        try state.checkAccount(publisher, as: "PUBLISHER")
    }

    func run() throws {
        let words = ["subscriber": "SUBSCRIBER", "publisher": "PUBLISHER", "type": "--type"]
        try report(naming: words) {
            let facts = try server.open().call(
                "why",
                [
                    "subscriber": .string(subscriber), "publisher": .string(publisher),
                    "type": .integer(Int64(state.type)),
                ])
            guard !json else { return try announce(facts.text) }
            for line in WhyText(facts).lines { try announce(line) }
        }
    }
}
