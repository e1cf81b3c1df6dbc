import ArgumentParser
import CommandSupport
import PresenceClient
import PresenceTokens

struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a key for an app server.",
        discussion: """
            Prints the key, which is for the app server and is stored nowhere else. Prints on \
            standard error the line for the file of `serve --server-key`, which holds only a hash \
            of it:

                (umask 077; porchlight key billing > billing.key 2>> server-keys)
            """)

    @Argument(help: "The key's name in logs: 1 to 64 letters, digits, `.`, `_` and `-`.")
    var name: String

    func validate() throws {
        guard ServerKey.isName(name) else {
            throw ValidationError(
                "NAME \(cut(name)) is not a name of a key: give 1 to 64 letters, digits, `.`, `_` "
                    + "and `-`.")
        }
    }

    func run() throws {
        let made = ServerKey.generate(name: name)
        // First, so that the service's file gets no line of a key that is lost.
        try announce(made.secret)
        try announceAside(made.key.line)
    }
}
