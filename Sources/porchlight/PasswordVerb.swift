import ArgumentParser
import CommandSupport
import Foundation
import Passwords
import PresenceClient
import PresenceXMPP

struct PasswordVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set or remove the password of an account.",
        usage: "porchlight password <account> [--remove] [<options>]",
        discussion: """
            Reads the password from the terminal, without an echo, or from the first line of \
            standard input that is not empty. Logs in as an app server to a service that runs \
            with `--auth password` or `--passwords`. Sessions of the account continue. A \
            password of fewer than 8 characters is set, with a warning.

                porchlight password alice --server-key app.key < alice.password
            """)

    @Argument(help: "The account whose password it is. The service need not know it yet.")
    var account: String

    @Flag(help: "Remove the password, and read none.")
    var remove = false

    @OptionGroup var server: AppServerOptions

    func validate() throws { try checkAccountName(account, as: "ACCOUNT") }

    func run() throws {
        try report(naming: ["account": "ACCOUNT", "password": "The password"]) {
            try announce(remove ? removePassword() : setPassword())
        }
    }

    /// Returns what has happened.
    private func setPassword() throws -> String {
        // A connection of its own: the service ends one that is silent while a password is typed.
        if isatty(STDIN_FILENO) == 1 { _ = try server.open() }
        let password = try newPassword(of: account)
        let result = try server.open().call(
            "setPassword", ["account": .string(account), "password": .string(password)])
        if let remark { note(remark) }
        if password.count < Self.charactersMin { note(Self.warning(of: password.count)) }
        if let remark = (try? Password(password.utf8))?.remark { note(remark.sentence) }
        let isReplaced = result["replaced"] == .bool(true)
        return "the password of \(visible(account)) is \(isReplaced ? "replaced" : "set")"
    }

    /// A shorter password is found by trying: NIST SP 800-63B asks for as many.
    private static let charactersMin = 8

    /// Not an error: a service for tests may have any passwords.
    private static func warning(of count: Int) -> String {
        "Warning: the password has \(count) \(count == 1 ? "character" : "characters"), and can be "
            + "guessed: use at least \(charactersMin)."
    }

    /// How XMPP clients write the account, if not as it is: `Bob` and `bob@example.com` may have
    /// been meant as `bob`.
    private var remark: String? {
        let name = Array(account.utf8)
        let localpart = Localpart.localpart(of: name)
        guard localpart != name else { return nil }
        return "An account's name has no domain, and case counts: XMPP clients log in to "
            + "\(visible(account)) as \(String(decoding: localpart, as: UTF8.self))@DOMAIN."
    }

    private func removePassword() throws -> String {
        let result = try server.open().call("removePassword", ["account": .string(account)])
        return result["removed"] == .bool(true)
            ? "the password of \(visible(account)) is removed"
            : "\(visible(account)) has no password"
    }
}
