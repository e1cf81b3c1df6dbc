import Foundation
import Glibc
import Testing

@testable import PresenceStore

/// What `porchlight backup` and a running service say to each other.
@Suite struct `A copy of a running service's database` {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()

    private var files: StoreFiles { StoreFiles(directory: directory.data) }
    private var file: String { directory.path + "/copy" }

    private func started(_ change: (inout StoreTuning) -> Void = { _ in }) throws -> Store {
        var tuning = StoreTuning()
        change(&tuning)
        let store = try Store.open(directory: directory.data, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report)
        return store
    }

    private func failure(_ body: () throws -> Void) -> StoreFileError? {
        do {
            try body()
            return nil
        } catch {
            return error as? StoreFileError
        }
    }

    @Test func `is given up where the service ends, and leaves nothing`() throws {
        let store = try started()
        _ = try store.write(put(0), into: outcomes)
        let error = failure {
            _ = try Backup.make(of: directory.data, to: file, existing: .kept) { store.stop() }
        }
        #expect(error?.reason == .backupFailed)
        #expect(error?.detail == "the service has ended meanwhile, or its file was changed")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names == ["data"])
    }

    @Test func `leaves the database as it is, whatever is committed`() throws {
        let store = try started { $0.checkpointPages = 1 }
        _ = try store.write(put(0), into: outcomes)
        let held = try HeldDatabase(files)
        #expect(held.logBytes == 0)
        let before = try Data(contentsOf: URL(filePath: directory.database))
        for number in 1..<50 { _ = try store.write(put(number), into: outcomes) }
        #expect(try Data(contentsOf: URL(filePath: directory.database)) == before)
        let isWhole = held.release()
        #expect(isWhole)
        // The next commit copies the log again.
        repeat {
            _ = try store.write(put(50), into: outcomes)
        } while try Data(contentsOf: URL(filePath: directory.database)) == before
        store.stop()
    }

    @Test(arguments: ["", "done", "hello\n", String(repeating: "x", count: 10_000) + "\n"])
    func `that is killed, or says something else, is over`(said: String) throws {
        let store = try started { $0.checkpointPages = 1 }
        _ = try store.write(put(0), into: outcomes)
        _ = try HeldDatabase(files).release()
        let connection = try #require(LocalSocket.connect(to: files.backupSocket, seconds: 60))
        #expect(LocalSocket.line(from: connection) == "hold 0")
        LocalSocket.send(said, to: connection)
        if said.hasSuffix("\n") { #expect(LocalSocket.line(from: connection) == nil) }
        closeOnce(connection)
        // The next one has its turn.
        let isWhole = try HeldDatabase(files).release()
        #expect(isWhole)
        store.stop()
    }

    @Test func `waits for another one`() throws {
        let store = try started()
        let first = try HeldDatabase(files)
        let connection = try #require(LocalSocket.connect(to: files.backupSocket, seconds: 60))
        var byte: UInt8 = 0
        #expect(unsafe recv(connection, &byte, 1, CInt(MSG_DONTWAIT)) < 0)
        let isWhole = first.release()
        #expect(isWhole)
        #expect(LocalSocket.line(from: connection) == "hold 0")
        closeOnce(connection)
        store.stop()
    }

    @Test func `includes the log where the disk has no room for a checkpoint`() throws {
        let faults = InjectedFaults()
        let store = try started { $0.faults = faults }
        _ = try store.write(put(0), into: outcomes)
        faults.fail(.checkpoint, code: 13)
        _ = try Backup.make(of: directory.data, to: file, existing: .kept) {
            _ = try store.write(put(1), into: outcomes)
        }
        store.stop()
        let restored = directory.path + "/restored"
        try Backup.restore(from: file, to: restored, at: 0)
        #expect(try Contents(of: restored).subscriptions.count == 2)
    }

    @Test func `is given up where another program has changed the file meanwhile`() throws {
        let store = try started()
        _ = try store.write(put(0), into: outcomes)
        let error = failure {
            _ = try Backup.make(of: directory.data, to: file, existing: .kept) {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1)],
                    ofItemAtPath: directory.database)
            }
        }
        #expect(error?.reason == .backupFailed)
        store.stop()
    }

    @Test func `is made without rights to write`() throws {
        try started().stop()
        for path in [directory.data + "/porchlight.lock", directory.database, directory.data] {
            try FileManager.default.setAttributes(
                [.posixPermissions: path == directory.data ? 0o500 : 0o400], ofItemAtPath: path)
        }
        _ = try Backup.make(of: directory.data, to: file, existing: .kept)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o700], ofItemAtPath: directory.data)
    }

    @Test func `is not made where nobody answers`() throws {
        try started().stop()
        let error = failure { _ = try HeldDatabase(files) }
        #expect(error?.reason == .notAnswering)
        #expect(
            error?.description
                == "The service that uses the data directory \(directory.data) does not answer "
                + "(No such file or directory); look at its log, or stop it for the backup.")
    }

    @Test func `can be made in a directory with a long path, after a kill`() throws {
        let long = directory.path + "/" + String(repeating: "long", count: 50)
        try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: true)
        let files = StoreFiles(directory: long)
        // What a killed service leaves.
        let old = try #require(LocalSocket.listen(at: files.backupSocket))
        closeOnce(old)
        #expect(LocalSocket.connect(to: files.backupSocket, seconds: 60) == nil)
        let new = try #require(LocalSocket.listen(at: files.backupSocket))
        let connection = try #require(LocalSocket.connect(to: files.backupSocket, seconds: 60))
        closeOnce(connection)
        closeOnce(new)
        var status = stat()
        #expect(unsafe stat(files.backupSocket, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }
}
