import GRDB
import Testing

@testable import PresenceStore

/// How far readers within the service have come.
@Suite struct ReaderTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()
    private let faults = InjectedFaults()

    private func open() throws -> Store {
        try Store.open(
            directory: directory.data, durability: .full, tuning: StoreTuning(faults))
    }

    private func start() throws -> Store {
        let store = try open()
        store.start(outcome: outcomes.report)
        return store
    }

    private func readers(in data: String? = nil) throws -> [ReaderRow] {
        let store = try Store.open(directory: data ?? directory.data, durability: .full)
        defer { store.stop() }
        return try store.readers().rows
    }

    private func unfinished(_ number: Int64, _ device: String) -> UnfinishedRow {
        UnfinishedRow(number: number, device: name(device), account: name("bob"), sent: -5)
    }

    private func row(
        _ reader: String, _ cursor: String?, _ unfinished: UnfinishedRow...
    ) -> ReaderRow {
        var row = ReaderRow(name: name(reader), cursor: cursor.map(name))
        row.unfinished = unfinished
        return row
    }

    private func move(
        _ reader: String, to cursor: String?, begun: [UnfinishedRow] = [],
        finished: [(number: Int64, device: [UInt8])] = []
    ) -> Write {
        .moveReader(
            ReaderMove(name(reader), to: cursor.map(name), begun: begun, finished: finished))
    }

    @Test func `are moved, with what is unfinished, and forgotten`() throws {
        let store = try start()
        #expect(
            try store.write(
                move("push:a", to: "1", begun: [unfinished(1, "é"), unfinished(1, "e\u{301}")]),
                move("push:b", to: "1", begun: [unfinished(1, "é")]),
                move("push:gone", to: "1", begun: [unfinished(1, "é")]),
                move("webhook:w", to: "2"), into: outcomes)
                == [.committed, .committed, .committed, .committed])
        #expect(
            try store.write(
                move(
                    "push:a", to: "4", begun: [unfinished(.max, "d")],
                    finished: [(1, name("é")), (9, name("d"))]),
                .removeReader(name: name("push:gone")), .removeReader(name: name("none")),
                move("webhook:w", to: nil), into: outcomes)
                == [.committed, .committed, .committed, .committed])
        store.stop()
        #expect(
            try readers() == [
                row("push:a", "4", unfinished(1, "e\u{301}"), unfinished(.max, "d")),
                row("push:b", "1", unfinished(1, "é")), row("webhook:w", nil),
            ])
    }

    @Test func `change completely or not at all`() throws {
        let store = try start()
        let first = move("a", to: "1", begun: [unfinished(1, "d")])
        #expect(try store.write(first, into: outcomes) == [.committed])
        faults.fail(.commit, code: 13)
        let second = move("a", to: "2", begun: [unfinished(2, "d")], finished: [(1, name("d"))])
        #expect(try store.write(second, into: outcomes) == [.failed(StoreError(code: 13))])
        store.stop()
        #expect(try readers() == [row("a", "1", unfinished(1, "d"))])
    }

    @Test func `begin with the numbers of the database`() throws {
        let store = try start()
        _ = try store.write(.reserveSequence(upTo: 77), into: outcomes)
        store.stop()
        let again = try open()
        defer { again.stop() }
        let (rows, identity, sequence) = try again.readers()
        #expect(rows.isEmpty && sequence == 77)
        #expect(try Contents(reading: again).secret.identity == identity)
    }

    @Test func `count in a transaction by what changes`() {
        let move = move(
            "a", to: "1", begun: [unfinished(1, "d")], finished: [(1, []), (2, [])])
        #expect(move.rowCount == 4)
        #expect(!Submission(ticket: 1, write: move).canWait)
    }

    @Test func `are none in a database of before, and in a backup`() throws {
        try start().stop()
        let older = try DatabaseQueue(path: directory.database)
        try older.inDatabase { db in
            try db.execute(
                sql: """
                    DROP TABLE reader;
                    DROP TABLE unfinished;
                    DELETE FROM grdb_migrations WHERE identifier = '012 reader';
                    """)
        }
        try older.close()
        let store = try start()
        _ = try store.write(move("a", to: "1", begun: [unfinished(1, "d")]), into: outcomes)
        let (file, restored) = (directory.path + "/copy", directory.path + "/restored")
        _ = try Backup.make(of: directory.data, to: file, existing: .kept)
        store.stop()
        try Backup.restore(from: file, to: restored, at: 0)
        #expect(try readers(in: restored) == [row("a", "1", unfinished(1, "d"))])
    }
}
