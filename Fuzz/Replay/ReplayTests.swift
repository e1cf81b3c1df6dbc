import Containers
import Foundation
import Testing

/// Inputs that once reached something new or were wrong, and changes of them, without libFuzzer and
/// without sanitizers: `scripts/fuzz` looks for new ones.
@Suite struct ReplayTests {
    private static var seed: UInt64 {
        ProcessInfo.processInfo.environment["FUZZ_SEED"].flatMap(UInt64.init) ?? 1
    }
    private static let mutationsPerInput = 500

    @Test(arguments: FuzzTarget.allCases)
    func `corpus and changes of it`(_ target: FuzzTarget) throws {
        print("replaying \(target.rawValue), FUZZ_SEED=\(Self.seed)")
        let corpus = try inputs(of: target)
        try #require(!corpus.isEmpty)
        let progress = try ReplayProgress(target)
        for (file, bytes) in corpus {
            progress.note("\(file)")
            target.run(bytes)
        }
        var mutation = Mutation(
            others: corpus.map(\.bytes), random: SplitMix64(seed: Self.seed))
        for (file, bytes) in corpus {
            for number in 0..<Self.mutationsPerInput {
                let changed = mutation.applied(to: bytes)
                progress.note("\(file), change \(number): \(Data(changed).base64EncodedString())")
                target.run(changed)
            }
        }
        progress.end()
    }

    /// By name, so that a seed means the same everywhere.
    private func inputs(of target: FuzzTarget) throws -> [(file: String, bytes: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "corpus/\(target.rawValue)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            ($0, Array(try Data(contentsOf: folder.appending(path: $0))))
        }
    }
}

/// A file with the input that runs: what it is called after a trap, which ends the process.
private struct ReplayProgress {
    private let file: FileHandle
    private let path: String

    init(_ target: FuzzTarget) throws {
        let folder = FileManager.default.temporaryDirectory.path
        path = "\(folder)/porchlight-replay-\(target.rawValue)-\(getpid())"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        file = try #require(FileHandle(forUpdatingAtPath: path))
        print("the input in progress is in \(path)")
    }

    func note(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = ftruncate(file.fileDescriptor, 0)
        _ = line.withUnsafeBytes { pwrite(file.fileDescriptor, $0.baseAddress, $0.count, 0) }
    }

    func end() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
