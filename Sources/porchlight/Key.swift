import ArgumentParser
import CommandSupport
import PresenceClient
import PresenceTokens
import WebPush

struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a key for an app server, or the key of Web Push.",
        discussion: """
            Prints the key, which is for the app server and is stored nowhere else. Prints on \
            standard error the line for the file of `serve --server-key`, which holds only a hash \
            of it:

                (umask 077; porchlight key billing > billing.key 2>> server-keys)

            With --read-only, the key lets its holder only read, and no messages and devices: for \
            the console, monitors and dashboards.

            With --web-push, makes the file for `serve --push-key`, and prints the public key, \
            which web pages subscribe with.
            """)

    @Argument(help: "The key's name in logs: 1 to 64 letters, digits, `.`, `_` and `-`.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Make the key of Web Push, in a new file that only this user can read.",
            valueName: "file"))
    var webPush: String?

    @Flag(help: "Make a key that changes nothing and reads no messages.")
    var readOnly = false

    func validate() throws {
        guard name == nil || webPush == nil else {
            throw ValidationError("Give NAME or --web-push FILE, not both.")
        }
        guard name != nil || webPush != nil else {
            throw ValidationError("Give NAME for the key of an app server, or --web-push FILE.")
        }
        guard let name else {
            guard !readOnly else {
                throw ValidationError("--read-only is for the key of an app server: give NAME.")
            }
            return
        }
        guard ServerKey.isName(name) else {
            throw ValidationError(
                "NAME \(cut(name)) is not a name of a key: give 1 to 64 letters, digits, `.`, `_` "
                    + "and `-`.")
        }
    }

    func run() throws {
        if let webPush { return try announce(makePushKey(webPush).publicText) }
        guard let name else { return }
        let made = ServerKey.generate(name: name, isReadOnly: readOnly)
        // First, so that the service's file gets no line of a key that is lost.
        try announce(made.secret)
        try announceAside(made.key.line)
    }
}

/// Makes a key of Web Push, in a new file that only this user can read.
@discardableResult func makePushKey(_ path: String) throws(CommandError) -> VAPIDKey {
    let key = VAPIDKey()
    do throws(FileError) {
        try createSecretFile(path, Array(key.file.utf8))
    } catch {
        throw CommandError("The file \(path) cannot be made: \(error.words).")
    }
    return key
}
