import Foundation
import PresenceBench

/// The program that was built beside these tests.
func builtProgram() throws -> String {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "porchlight").path
}

/// Options of a tiny run against a service of its own.
func tiny(seed: UInt64 = 1, serve: [String] = []) throws -> BenchOptions {
    BenchOptions(
        target: .child(executable: try builtProgram(), options: serve), seed: seed,
        isProgressShown: false)
}
