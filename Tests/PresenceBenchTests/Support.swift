import Foundation
import PresenceBench

/// Options of a tiny run against the program that was built beside this one.
func tiny(seed: UInt64 = 1, serve: [String] = []) throws -> BenchOptions {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let executable = URL(filePath: tests).deletingLastPathComponent().appending(path: "porchlight")
    return BenchOptions(
        target: .child(executable: executable.path, options: serve), seed: seed,
        isProgressShown: false)
}
