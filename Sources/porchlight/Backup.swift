import ArgumentParser
import CommandSupport
import EventLoop
import PresenceStore

struct BackupVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database to a file, also while the service runs.",
        discussion: """
            The copy is a consistent, checked snapshot of the database. The file appears under \
            its name when it is complete and on disk. It holds subscriptions, contacts, \
            statuses, sessions, passwords as keys, and when each account was last seen.

            Run it as the user of the service, such as with `sudo -u porchlight`.
            """)

    @Argument(help: "The file to write.")
    var file: String

    @Option(help: ArgumentHelp("The service's data directory.", valueName: "dir"))
    var data = "./data"

    @Flag(help: "Replace the file if it exists.")
    var force = false

    func run() throws {
        let bytes: Int
        do throws(StoreFileError) {
            bytes = try Backup.make(of: data, to: file, existing: force ? .replaced : .kept)
        } catch {
            throw CommandError(error.description)
        }
        try announce("\(file) holds the database, \(bytes) bytes")
    }
}

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restore the database from a backup, into a directory without one.",
        discussion: """
            The service must not run. Event numbers continue far above any that may have been \
            used since the backup was made, so that no client takes a new event for an old one.
            """)

    @Argument(help: "A file made by `porchlight backup`.")
    var file: String

    @Option(help: ArgumentHelp("The service's data directory.", valueName: "dir"))
    var data = "./data"

    func run() throws {
        do throws(StoreFileError) {
            try Backup.restore(from: file, to: data, at: Loop.wallMilliseconds() * 1_000)
        } catch {
            throw CommandError(error.description)
        }
        try announce("\(data) holds the database from \(file)")
    }
}
