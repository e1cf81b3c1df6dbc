import Foundation
import PresenceStore
import Testing

@Suite struct `A backup` {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()

    private var file: String { directory.path + "/copy" }
    private var restored: String { directory.path + "/restored" }

    private func started() throws -> Store {
        let store = try Store.open(directory: directory.data, durability: .full)
        store.start(outcome: outcomes.report)
        return store
    }

    private func errorReason(_ body: () throws -> Void) -> StoreFileError.Reason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreFileError)?.reason
        }
    }

    private func backUp(_ existing: Backup.Existing = .kept) throws {
        _ = try Backup.make(of: directory.data, to: file, existing: existing)
    }

    @Test func `is the database at one moment, whatever is written meanwhile`() throws {
        let store = try started()
        _ = try store.write(put(0), into: outcomes)
        for number in 1...2_000 { store.submit([Submission(write: put(number))]) }
        try backUp()
        store.stop()
        try Backup.restore(from: file, to: restored, at: 0)
        let contents = try Contents(of: restored)
        #expect(contents.subscriptions(of: "s0") == ["a 1 2", "b 1 2"])
        // What was written together is there together, and nothing without what came before.
        let count = contents.subscriptions.count / 2
        for number in 0..<count { #expect(contents.subscriptions(of: "s\(number)").count == 2) }
        #expect(count <= 2_001)
        #expect(try Contents(of: directory.data).subscriptions.count == 4_002)
    }

    /// A full disk fails one commit after the other; often the copy has filled it.
    @Test(arguments: [1, 2, 3])
    func `is not harmed by commits that fail meanwhile, and harms none after them`(
        failures: Int
    ) throws {
        let faults = InjectedFaults()
        var tuning = StoreTuning()
        tuning.faults = faults
        let store = try Store.open(directory: directory.data, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report)
        for number in 0..<500 { _ = try store.write(put(number), into: outcomes) }
        var image: TemporaryDirectory?
        _ = try Backup.make(of: directory.data, to: file, existing: .kept) {
            for _ in 0..<failures {
                faults.fail(.commit, code: 13)
                let outcome = try store.write(put(1_000), into: outcomes)
                #expect(outcome == [.failed(StoreError(code: 13))])
            }
            #expect(try store.write(put(2_000), into: outcomes) == [.committed])
            image = try directory.crashImage()
        }
        store.stop()
        try Backup.restore(from: file, to: restored, at: 0)
        let copy = try Contents(of: restored)
        #expect(copy.subscriptions.count == 1_000)
        #expect(copy.subscriptions(of: "s2000").isEmpty, "it is of the moment before")
        let left = try Contents(of: try #require(image).data)
        #expect(left.subscriptions.count == 1_002)
        #expect(left.subscriptions(of: "s2000").count == 2, "what was acknowledged is there")
        #expect(left.subscriptions(of: "s1000").isEmpty, "what was rejected is not")
        #expect(try Contents(of: directory.data).subscriptions.count == 1_002)
    }

    @Test func `continues with unused sequence numbers`() throws {
        let store = try started()
        _ = try store.write(.reserveSequence(upTo: 1 << 32), into: outcomes)
        try backUp()
        _ = try store.write(.reserveSequence(upTo: 9 << 32), into: outcomes)
        store.stop()
        try Backup.restore(from: file, to: restored, at: 0)
        let sequence = try #require(try Contents(of: restored).sequence)
        #expect(sequence == 1 << 32 + Backup.numbersPassedOver)
        #expect(sequence > 9 << 32)
        #expect(sequence < 1 << 53)
    }

    @Test func `continues above the numbers that the clock allows since it was made`() throws {
        let store = try started()
        _ = try store.write(.reserveSequence(upTo: 1 << 32), into: outcomes)
        try backUp()
        store.stop()
        let now: Int64 = 1_795_259_714_269_000
        try Backup.restore(from: file, to: restored, at: now)
        let sequence = try #require(try Contents(of: restored).sequence)
        #expect(sequence == now + Backup.numbersPassedOver)
        #expect(sequence < 1 << 53)
    }

    @Test func `skips more sequence numbers when it is restored again`() throws {
        let store = try started()
        _ = try store.write(.reserveSequence(upTo: 1 << 32), into: outcomes)
        try backUp()
        store.stop()
        try Backup.restore(from: file, to: restored, at: 0)
        let first = try #require(try Contents(of: restored).sequence)
        let again = try Store.open(directory: restored, durability: .full)
        again.start(outcome: outcomes.report)
        _ = try again.write(.reserveSequence(upTo: first + 1 << 32), into: outcomes)
        again.stop()
        try FileManager.default.removeItem(atPath: restored + "/porchlight.sqlite")
        try Backup.restore(from: file, to: restored, at: 0)
        let second = try #require(try Contents(of: restored).sequence)
        #expect(second > first + 1 << 32)
        #expect(second < 1 << 53)
    }

    @Test func `is one file that only its owner can read`() throws {
        let store = try started()
        _ = try store.write(put(0), into: outcomes)
        try backUp()
        store.stop()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.sorted() == ["copy", "data"])
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `meets no other that is made of the same file meanwhile`() throws {
        try started().stop()
        for existing in [Backup.Existing.replaced, .replaced] {
            _ = try Backup.make(of: directory.data, to: file, existing: existing) {
                try backUp(.replaced)
            }
        }
        try Backup.restore(from: file, to: restored, at: 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.sorted() == ["copy", "data", "restored"])
    }

    @Test func `keeps a file that another has written meanwhile`() throws {
        try started().stop()
        let reason = errorReason {
            _ = try Backup.make(of: directory.data, to: file, existing: .kept) { try backUp() }
        }
        #expect(reason == .backupExists)
        try Backup.restore(from: file, to: restored, at: 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.sorted() == ["copy", "data", "restored"])
    }

    @Test func `removes what a killed one has left, and nothing of one that runs`() throws {
        try started().stop()
        try Data("half".utf8).write(to: URL(filePath: file + ".partial-killed"))
        try Data("half".utf8).write(to: URL(filePath: file + ".partial-killed-journal"))
        try Data("mine".utf8).write(to: URL(filePath: file + "-mine"))
        _ = try Backup.make(of: directory.data, to: file, existing: .replaced) {
            try backUp(.replaced)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            let partial = names.filter { $0.hasPrefix("copy.partial-") && !$0.contains("-journal") }
            #expect(partial.count == 1)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.sorted() == ["copy", "copy-mine", "data"])
    }

    /// SQLite gives some names a meaning of their own.
    @Test(arguments: ["/file:copy.sqlite", "/:memory:", "//copy", "/a?mode=memory", "/50%25 #1"])
    func `has any name`(name: String) throws {
        try started().stop()
        let file = directory.path + name
        let bytes = try Backup.make(of: directory.data, to: file, existing: .kept)
        #expect(bytes > 512)
        try Backup.restore(from: file, to: restored, at: 0)
        #expect(try Contents(of: restored).subscriptions.isEmpty)
    }

    @Test func `can be made after a crash`() throws {
        let store = try started()
        _ = try store.write(put(0), into: outcomes)
        let image = try directory.crashImage()
        store.stop()
        _ = try Backup.make(of: image.data, to: file, existing: .kept)
        try Backup.restore(from: file, to: restored, at: 0)
        #expect(try Contents(of: restored).subscriptions.count == 2)
        #expect(try Contents(of: image.data).subscriptions.count == 2)
    }

    @Test func `is restored with a log beside it`() throws {
        let store = try started()
        _ = try store.write(put(0), into: outcomes)
        let image = try directory.crashImage()
        store.stop()
        #expect(FileManager.default.fileExists(atPath: image.database + "-wal"))
        try Backup.restore(from: image.database, to: restored, at: 7)
        #expect(try Contents(of: restored).subscriptions.count == 2)
        #expect(try Contents(of: restored).sequence == 7 + Backup.numbersPassedOver)
        #expect(!FileManager.default.fileExists(atPath: restored + "/porchlight.sqlite.new-wal"))
    }

    @Test func `replaces a file only on request, and never the database`() throws {
        #expect(errorReason { try backUp() } == .noDatabase)
        try started().stop()
        try backUp()
        try Data("mine".utf8).write(to: URL(filePath: file))
        #expect(errorReason { try backUp() } == .backupExists)
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("mine".utf8))
        try backUp(.replaced)
        try Backup.restore(from: file, to: restored, at: 0)
        let before = try directory.contents()
        let toItself = errorReason {
            _ = try Backup.make(
                of: directory.data, to: directory.database, existing: .replaced)
        }
        #expect(toItself == .backupOverDatabase)
        #expect(try directory.contents() == before)
        let nowhere = errorReason {
            _ = try Backup.make(of: directory.data, to: file + "/x/y", existing: .kept)
        }
        #expect(nowhere == .backupNotWritable)
    }

    @Test func `has no name that the database may use, and none of a directory`() throws {
        try started().stop()
        let before = try directory.contents()
        let names = ["", "-wal", "-shm", "-journal", ".new", ".new-wal", ".new-journal"]
        let own = names.map { "porchlight.sqlite" + $0 } + ["porchlight.lock", "porchlight.socket"]
        for name in own {
            for path in [directory.data + "/" + name, directory.data + "/./" + name] {
                for existing in [Backup.Existing.kept, .replaced] {
                    let reason = errorReason {
                        _ = try Backup.make(of: directory.data, to: path, existing: existing)
                    }
                    #expect(reason == .backupOverDatabase, "\(path)")
                }
            }
        }
        for existing in [Backup.Existing.kept, .replaced] {
            let reason = errorReason {
                _ = try Backup.make(of: directory.data, to: directory.data, existing: existing)
            }
            #expect(reason == .backupNotAFile)
        }
        #expect(try directory.contents() == before)
        _ = try Backup.make(
            of: directory.data, to: directory.data + "/porchlight.sqlite-2026", existing: .kept)
    }

    @Test func `is not restored over a database, or one in use`() throws {
        let store = try started()
        try backUp()
        let inUse = errorReason { try Backup.restore(from: file, to: directory.data, at: 0) }
        #expect(inUse == .inUse)
        store.stop()
        let before = try directory.contents()
        let existing = errorReason { try Backup.restore(from: file, to: directory.data, at: 0) }
        #expect(existing == .databaseExists)
        #expect(try directory.contents() == before)
    }

    @Test func `that is invalid, damaged or foreign is not restored`() throws {
        let store = try started()
        for number in 0..<500 { _ = try store.write(put(number), into: outcomes) }
        try backUp()
        store.stop()
        let good = try Data(contentsOf: URL(filePath: file))
        var torn = good
        torn.removeLast(good.count / 2)
        var foreign = good
        foreign[71] ^= 1
        var damaged = good
        for place in 8_192..<8_400 { damaged[place] = 0xA5 }
        for bytes in [Data(), Data("Dear diary".utf8), torn, foreign, damaged] {
            try bytes.write(to: URL(filePath: file))
            let reason = errorReason { try Backup.restore(from: file, to: restored, at: 0) }
            #expect(reason == .unusableBackup)
            #expect(!FileManager.default.fileExists(atPath: restored + "/porchlight.sqlite"))
        }
        let missing = errorReason { try Backup.restore(from: file + "x", to: restored, at: 0) }
        #expect(missing == .unusableBackup)
    }
}
