import ArgumentParser
import CommandSupport
import PresenceClient

struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the current state of accounts, one line each.",
        usage: "porchlight query <account> ... [<options>]")

    @Argument(help: ArgumentHelp("The accounts to look up.", valueName: "account"))
    var accounts: [String]

    @OptionGroup var state: StateOptions

    @Flag(help: "Print each state as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: AppServerOptions

    func validate() throws {
        try state.checkAccounts(accounts, as: "ACCOUNT")
    }

    func run() throws {
        try report(naming: ["accounts": "ACCOUNT", "type": "--type"]) {
            let client = try server.open()
            let line = StateLine(style: Style())
            for start in stride(from: 0, to: accounts.count, by: 500) {
                let some = accounts[start..<min(start + 500, accounts.count)]
                for state in try states(of: some, from: client) {
                    try announce(json ? state.text : line.line(state))
                }
            }
        }
    }

    /// Asks for the halves if the states do not fit into one answer, or the service's limit is
    /// lower than ours.
    private func states(of some: ArraySlice<String>, from client: Client) throws -> [JSON] {
        do {
            return try client.call(
                "query",
                [
                    "type": .integer(Int64(state.type)),
                    "accounts": .array(some.map { .string($0) }),
                ])["states"]?.array ?? []
        } catch {
            guard case .rejected(let reply) = error, reply.reason == "too_many", some.count > 1
            else { throw error }
            let half = some.startIndex + some.count / 2
            return try states(of: some[..<half], from: client)
                + states(of: some[half...], from: client)
        }
    }
}
