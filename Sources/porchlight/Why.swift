import ArgumentParser
import PresenceClient

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell why an account sees, or does not see, another.",
        discussion: """
            Says since when and until when one watches the other, or how that ended; who is
            connected and was last heard when; what happened to the publisher lately, and what
            became of each event at the subscriber's connections. The service remembers the last
            hundred thousand events or so, and nothing from before it started.
            """)

    @Argument(help: "Who watches, or should.")
    var subscriber: String

    @Argument(help: "Who is watched, or should be.")
    var publisher: String

    @Option(help: "The type of state: 1 is presence, 100 and up are an app's own.")
    var type = 1

    @Flag(help: "Print the facts as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: AppServerOptions

    func run() throws {
        try report {
            let facts = try server.open().call(
                "why",
                [
                    "subscriber": .string(subscriber), "publisher": .string(publisher),
                    "type": .integer(Int64(type)),
                ])
            guard !json else { return announce(facts.text) }
            for line in WhyStory(facts).lines { announce(line) }
        }
    }
}
