import ArgumentParser
import PresenceClient
import PresenceTokens

struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a key for an app server.",
        discussion: """
            Prints the key, which is for the app server and is kept nowhere else, and on standard
            error the line for the file of `serve --server-key`, which holds its hash only:

                porchlight key billing > billing.key 2>> server-keys
            """)

    @Argument(help: "What logs call it: 1 to 64 letters, digits, `.`, `_` and `-`.")
    var name: String

    func validate() throws {
        guard ServerKey.isName(name) else {
            throw ValidationError(
                "NAME \(visible(name)) is none: give 1 to 64 letters, digits, `.`, `_` and `-`.")
        }
    }

    func run() {
        let made = ServerKey.generate(name: name)
        announce(made.secret)
        note(made.key.line)
    }
}
