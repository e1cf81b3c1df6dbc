import ArgumentParser
import CommandSupport
import Foundation

/// Runs `porchlight-bench` in place of this program. The load test is a program of its own, so
/// that the service's has none of it.
struct BenchVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Run a load test and measure.",
        usage: "porchlight bench <subcommand>")

    @Argument(parsing: .captureForPassthrough, help: "A scenario and its options.")
    var words: [String] = []

    func run() throws {
        let service = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(filePath: service).deletingLastPathComponent()
            .appending(path: "porchlight-bench").path
        // What is measured is this program, whatever it is called.
        unsafe setenv("PORCHLIGHT_BIN", service, 1)
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe ([program] + words).map {
            unsafe strdup($0)
        }
        unsafe arguments.append(nil)
        unsafe execv(program, &arguments)
        guard errno == ENOENT else {
            let reason = unsafe String(cString: strerror(errno))
            throw CommandError("\(program) cannot be started: \(reason).")
        }
        throw CommandError(
            "The load test is a program of its own, and \(program) does not exist. "
                + "Debian's package of it is porchlight-bench; "
                + "`make build` and `make static` build both.")
    }
}
