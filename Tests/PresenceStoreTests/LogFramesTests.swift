import Foundation
import GRDB
import Testing

@testable import PresenceStore

@Suite struct `The frames of a log` {
    private let directory = TemporaryDirectory()

    private var path: String { directory.path + "/database" }
    private var log: String { path + "-wal" }

    /// A log with the commits of a few writes, and the frames that SQLite counts after each.
    private func write(
        pageBytes: Int, commits: Int
    ) throws -> (queue: DatabaseQueue, counts: [Int32]) {
        let queue = try DatabaseQueue(path: path)
        var counts: [Int32] = []
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA page_size = \(pageBytes);
                    PRAGMA journal_mode = WAL;
                    PRAGMA wal_autocheckpoint = 0;
                    CREATE TABLE entry (text TEXT);
                    """)
        }
        counts.append(try #require(LogFrames.count(in: log)))
        for number in 0..<commits {
            try queue.write { db in
                for _ in 0...number {
                    try db.execute(
                        sql: "INSERT INTO entry VALUES (?)",
                        arguments: [String(repeating: "x", count: 300 * number)])
                }
            }
            counts.append(try #require(LogFrames.count(in: log)))
        }
        return (queue, counts)
    }

    @Test(arguments: [512, 4_096, 65_536])
    func `are those that SQLite finds`(pageBytes: Int) throws {
        let (queue, counts) = try write(pageBytes: pageBytes, commits: 12)
        let frames = try queue.inDatabase { db in
            try Int32.fetchOne(db, sql: "PRAGMA wal_checkpoint(PASSIVE)", adapter: secondColumn)
        }
        #expect(counts.last == frames)
        #expect(counts == counts.sorted() && Set(counts).count == counts.count)
    }

    private var secondColumn: any RowAdapter { SuffixRowAdapter(fromIndex: 1) }

    /// What SQLite would take for committed is counted, whatever follows.
    @Test func `end at the last commit that is whole`() throws {
        let (queue, counts) = try write(pageBytes: 512, commits: 6)
        let whole = try Data(contentsOf: URL(filePath: log))
        let frameBytes = 24 + 512
        for (before, after) in zip(counts, counts.dropFirst()) {
            let end = 32 + Int(after) * frameBytes
            let good = Data(whole[..<end])
            var changed = good
            changed[end - 1] ^= 1
            // The last frame is cut, or has another byte; or more follows.
            let logs: [(bytes: Data, count: Int32)] = [
                (Data(good.dropLast()), before), (changed, before), (good, after),
                (good + Data([0, 1, 2]), after), (good + Data(count: frameBytes), after),
            ]
            for (number, log) in logs.enumerated() {
                let copy = directory.path + "/copy-wal"
                try log.bytes.write(to: URL(filePath: copy))
                #expect(LogFrames.count(in: copy) == log.count, "log \(number) of \(after)")
            }
        }
        try queue.close()
    }

    @Test func `are none where there is no log`() throws {
        #expect(LogFrames.count(in: log) == 0)
        for bytes in [Data(), Data("no log".utf8), Data(count: 32), Data(count: 100_000)] {
            try bytes.write(to: URL(filePath: log))
            #expect(LogFrames.count(in: log) == 0)
        }
        #expect(LogFrames.count(in: directory.path) == nil, "a folder cannot be read")
    }

    @Test func `are none of a log whose header is damaged`() throws {
        let (queue, _) = try write(pageBytes: 512, commits: 2)
        let whole = try Data(contentsOf: URL(filePath: log))
        for place in 0..<32 {
            var bytes = whole
            bytes[place] ^= 1
            try bytes.write(to: URL(filePath: directory.path + "/copy-wal"))
            // The lowest bit of the magic number is the order of bytes.
            #expect(LogFrames.count(in: directory.path + "/copy-wal") == 0, "byte \(place)")
        }
        try queue.close()
    }
}
