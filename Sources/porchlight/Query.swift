import ArgumentParser
import PresenceClient

struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell who is online, a line an account.")

    @Argument(help: ArgumentHelp("Of whom to tell.", valueName: "account"))
    var accounts: [String]

    @Option(help: "The type of state: 1 is presence, 100 and up are an app's own.")
    var type = 1

    @Flag(help: "Print each state as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: AppServerOptions

    func run() throws {
        try report {
            let client = try server.open()
            let line = StateLine(style: Style())
            for start in stride(from: 0, to: accounts.count, by: 500) {
                let some = accounts[start..<min(start + 500, accounts.count)]
                let result = try client.call(
                    "query",
                    [
                        "type": .integer(Int64(type)),
                        "accounts": .array(some.map { .string($0) }),
                    ])
                var states = result["states"]?.array ?? []
                // Those that a frame does not hold follow it.
                while states.count < Set(some).count,
                    let more = try client.nextNotification(withinMilliseconds: 10_000)
                {
                    states += more.params["events"]?.array ?? []
                }
                for state in states { announce(json ? state.text : line.line(state)) }
            }
        }
    }
}
