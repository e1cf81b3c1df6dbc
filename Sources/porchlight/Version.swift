import ArgumentParser

/// The version of this program.
let programVersion = "0.1.0"

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the version.")

    func run() throws {
        try announce("porchlight \(programVersion)")
    }
}
