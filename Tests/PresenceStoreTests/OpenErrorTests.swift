import Foundation
import PresenceStore
import Testing

/// A file that is foreign, damaged or not writable is rejected with one sentence, and is unchanged.
@Suite struct OpenErrorTests {
    private let directory = TemporaryDirectory()

    private var path: String { directory.database }

    /// Makes a database with some hundred rows and no log.
    private func fill() throws {
        let outcomes = Outcomes()
        let store = try Store.open(directory: directory.data, durability: .relaxed)
        store.start(outcome: outcomes.report)
        let publishers = names((0..<400).map { "publisher number \($0)" })
        _ = try store.write(
            .putSubscriptions(
                subscriber: name("al"), type: 1, publishers: publishers, created: 1, expires: 2),
            into: outcomes)
        store.stop()
    }

    private func openError(of directory: String) -> StoreFileError? {
        do throws(StoreFileError) {
            try Store.open(directory: directory, durability: .full).stop()
            return nil
        } catch {
            return error
        }
    }

    /// Opens the store, and expects an error and unchanged files.
    private func expectError(
        _ sentence: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try directory.contents()
        #expect(
            openError(of: directory.data)?.description == sentence, sourceLocation: sourceLocation)
        #expect(try directory.contents() == before, sourceLocation: sourceLocation)
    }

    @Test func `a text file`() throws {
        try fill()
        try directory.patchDatabase { $0 = Data(String(repeating: "Dear diary. ", count: 99).utf8) }
        try expectError(
            "The file \(path) is not a database; "
                + "restore it from a backup, or move it away to start empty.")
    }

    @Test(arguments: [0, 1, 99, 4_096])
    func `an empty, short or zeroed file`(byteCount: Int) throws {
        try fill()
        try directory.patchDatabase { $0 = Data(count: byteCount) }
        try expectError(
            "The file \(path) is not a database; "
                + "restore it from a backup, or move it away to start empty.")
    }

    @Test func `the database of another program`() throws {
        try fill()
        // https://www.sqlite.org/fileformat.html: the application id is at 68.
        try directory.patchDatabase { $0[68] ^= 1 }
        try expectError(
            "The database \(path) belongs to another program; "
                + "move it away or choose another directory with --data.")
    }

    @Test func `a database of a newer version`() throws {
        try fill()
        try directory.patchDatabase { bytes in
            let known = Data("003 subscription".utf8)
            while let range = bytes.firstRange(of: known) {
                bytes.replaceSubrange(range, with: Data("904 subscription".utf8))
            }
        }
        try expectError(
            "The database \(path) was written by a newer Porchlight; "
                + "start that version, or restore a backup made by this version.")
    }

    @Test func `a database with a damaged page, whichever it is`() throws {
        try fill()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in 1..<whole.count / 4_096 {
            try directory.patchDatabase { bytes in
                for offset in 0..<64 { bytes[page * 4_096 + offset] ^= 0xFF }
            }
            let openError = openError(of: directory.data)
            #expect(openError?.reason == .damaged, "page \(page + 1)")
            #expect(openError?.path == path)
            try directory.patchDatabase { $0 = whole }
        }
        #expect(openError(of: directory.data) == nil)
    }

    @Test func `a database cut short at any page`() throws {
        try fill()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in 1..<whole.count / 4_096 {
            try directory.patchDatabase { $0 = whole.prefix(page * 4_096) }
            let before = try directory.contents()
            let sentence = openError(of: directory.data)?.description ?? "opened"
            #expect(sentence.hasPrefix("The database \(path) is damaged ("))
            #expect(
                sentence.hasSuffix("); restore it from a backup, or move it away to start empty."))
            #expect(!sentence.contains("\n"))
            #expect(try directory.contents() == before)
        }
    }

    @Test func `a log without its database`() throws {
        try fill()
        try FileManager.default.removeItem(atPath: path + "-wal")
        try FileManager.default.moveItem(atPath: path, toPath: path + "-wal")
        try expectError(
            "The database \(path) is missing, but its log \(path)-wal exists; "
                + "restore the database, or move the log away to start empty.")
    }

    @Test func `a file that is not a log`() throws {
        try fill()
        try Data("Dear diary. Today I was a log.".utf8)
            .write(to: URL(filePath: path + "-wal"))
        try expectError(
            "The database \(path)-wal is damaged (it is not a write-ahead log, and its content "
                + "is lost); restore it from a backup, or move it away to start empty.")
    }

    @Test func `a damaged database with a log keeps both`() throws {
        let outcomes = Outcomes()
        let store = try Store.open(directory: directory.data, durability: .full)
        store.start(outcome: outcomes.report)
        _ = try store.write(.reserveSequence(upTo: 1), into: outcomes)
        let image = try directory.crashImage()
        store.stop()
        try image.patchDatabase { $0[68] ^= 1 }
        // The log does not hold the first page: the mark that counts is the file's.
        let before = try image.contents()
        #expect(before["porchlight.sqlite-wal"]?.isEmpty == false)
        #expect(openError(of: image.data)?.reason == .foreign)
        #expect(try image.contents() == before)
    }

    @Test func `a directory in use by another store`() throws {
        let store = try Store.open(directory: directory.data, durability: .full)
        try expectError(
            "The data directory \(directory.data) is in use by another Porchlight; "
                + "stop that one or choose another directory with --data.")
        store.stop()
        #expect(openError(of: directory.data) == nil)
    }

    @Test func `a directory that is a file, or lies in one`() throws {
        let file = directory.path + "/file"
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        for path in [file, file + "/data"] {
            #expect(
                openError(of: path)?.description
                    == "The data directory \(path) is not a directory; "
                    + "move that file away or choose another directory with --data.")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("x".utf8))
    }

    @Test func `a directory whose parent does not exist`() {
        for (end, missing) in [("/missing/data", "/missing"), ("/missing/a/b/", "/missing")] {
            let path = directory.path + end
            #expect(
                openError(of: path)?.description
                    == "The data directory \(path) cannot be created, since there is no "
                    + "\(directory.path + missing); create that first or choose another directory "
                    + "with --data.")
        }
    }

    @Test func `a directory in one that takes none`() {
        #expect(
            openError(of: "/proc/porchlight")?.description
                == "The data directory /proc/porchlight cannot be created (No such file or "
                + "directory); create it or choose another directory with --data.")
    }

    @Test func `a directory that belongs to the kernel`() {
        let openError = openError(of: "/proc/self")
        #expect(openError?.reason == .notWritable)
        #expect(openError?.path == "/proc/self")
    }
}
