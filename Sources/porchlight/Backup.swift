import ArgumentParser
import PresenceStore

struct BackupVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database into a file, while the service runs or not.",
        discussion: """
            The copy is the database of one moment, whole and checked; it takes its name when it is
            on disk. It holds who watches whom, statuses, and who was seen when.
            """)

    @Argument(help: "Where the copy goes.")
    var file: String

    @Option(help: ArgumentHelp("The folder with the database.", valueName: "dir"))
    var data = "./data"

    @Flag(help: "Replace a file that is there.")
    var force = false

    func run() throws {
        do throws(StoreRefusal) {
            let bytes = try Backup.make(
                of: data, to: file, existing: force ? .replaced : .kept)
            announce("\(file) holds the database, \(bytes) bytes")
        } catch {
            throw Failure(error.description)
        }
    }
}

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring a copy of the database back, where there is none.",
        discussion: """
            The service must not run, and the folder must have no database. Numbers of events go on
            far behind those that may have been used since the copy was made, so that no client
            takes what it is told for old.
            """)

    @Argument(help: "A file that `porchlight backup` has made.")
    var file: String

    @Option(help: ArgumentHelp("The folder for the database.", valueName: "dir"))
    var data = "./data"

    func run() throws {
        do throws(StoreRefusal) {
            try Backup.restore(from: file, to: data)
            announce("\(data) holds what was in \(file)")
        } catch {
            throw Failure(error.description)
        }
    }
}
