import ArgumentParser
import PresenceClient

struct PasswordVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set or remove the password of an account.",
        usage: "porchlight password <account> [--remove] [<options>]",
        discussion: """
            Reads the password from the terminal, without an echo, or from the first line of \
            standard input. Logs in as an app server to a service that runs with \
            `--auth password` or `--passwords`. Sessions of the account continue.

                porchlight password alice --server-key app.key < alice.password
            """)

    @Argument(help: "The account whose password it is. The service need not know it yet.")
    var account: String

    @Flag(help: "Remove the password, and read none.")
    var remove = false

    @OptionGroup var server: AppServerOptions

    func validate() throws { try checkAccountName(account, as: "ACCOUNT") }

    func run() throws {
        try report { try announce(remove ? removePassword() : setPassword()) }
    }

    /// Returns what has happened.
    private func setPassword() throws -> String {
        // First: a connection that does not log in is closed while its password is typed.
        let password = try newPassword(of: account)
        let result = try server.open().call(
            "setPassword", ["account": .string(account), "password": .string(password)])
        let isReplaced = result["replaced"] == .bool(true)
        return "the password of \(visible(account)) is \(isReplaced ? "replaced" : "set")"
    }

    private func removePassword() throws -> String {
        let result = try server.open().call("removePassword", ["account": .string(account)])
        return result["removed"] == .bool(true)
            ? "the password of \(visible(account)) is removed"
            : "\(visible(account)) has no password"
    }
}
