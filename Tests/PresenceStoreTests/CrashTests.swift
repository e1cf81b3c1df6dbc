import Foundation
import PresenceStore
import Testing

/// A copy of the files while the store is open is what `kill -9` leaves.
@Suite struct CrashTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()

    @Test func `everything acknowledged is in every crash image`() throws {
        var tuning = StoreTuning()
        tuning.checkpointPages = 20
        let store = try Store.open(directory: directory.data, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report)
        for subscriber in 1...40 {
            #expect(try store.write(put(subscriber), into: outcomes) == [.committed])
            guard subscriber % 4 == 0 else { continue }
            // The thread is held, so that the copy is of one moment.
            outcomes.hold()
            _ = try store.write(.reserveSequence(upTo: Int64(subscriber)), into: outcomes)
            let image = try directory.crashImage()
            outcomes.release()
            let found = try Contents(of: image.data)
            #expect(found.subscriptions.count == subscriber * 2)
            #expect(found.sequence == Int64(subscriber))
        }
        store.stop()
    }

    @Test func `garbage after the log is ignored`() throws {
        let store = try Store.open(directory: directory.data, durability: .full)
        store.start(outcome: outcomes.report)
        _ = try store.write(put(1), into: outcomes)
        let image = try directory.crashImage()
        store.stop()
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: image.database + "-wal"))
        try log.seekToEnd()
        try log.write(contentsOf: Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 * 31) }))
        try log.close()
        #expect(try Contents(of: image.data).subscriptions.count == 2)
    }

    @Test func `a database whose creation was interrupted is created again`() throws {
        try FileManager.default.createDirectory(
            atPath: directory.data, withIntermediateDirectories: true)
        let half = directory.database + ".new"
        try Data("half a database".utf8).write(to: URL(fileURLWithPath: half))
        try Data("its journal".utf8).write(to: URL(fileURLWithPath: half + "-journal"))
        #expect(try Contents(of: directory.data) == Contents())
        #expect(
            try directory.contents().keys.sorted() == [
                "porchlight.lock", "porchlight.sqlite", "porchlight.sqlite-wal",
            ])
    }

    @Test func `only this user can read the files`() throws {
        let store = try Store.open(directory: directory.data, durability: .full)
        store.start(outcome: outcomes.report)
        _ = try store.write(put(1), into: outcomes)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(directory.data) == 0o700)
        for suffix in ["", "-wal"] {
            #expect(try mode(directory.database + suffix) == 0o600)
        }
        #expect(!FileManager.default.fileExists(atPath: directory.database + "-shm"))
        store.stop()
    }
}
