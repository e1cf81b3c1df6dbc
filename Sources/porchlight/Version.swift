import ArgumentParser
import CommandSupport

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the version.")

    func run() throws {
        try announce("porchlight \(programVersion)")
    }
}
