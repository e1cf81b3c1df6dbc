import GRDB
import Testing

@testable import PresenceStore

/// Cards, which are read one at a time while the store runs.
@Suite struct CardTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()
    private let answers = Answers()
    private let faults = InjectedFaults()

    private func start() throws -> Store {
        let store = try Store.open(
            directory: directory.data, durability: .full, tuning: StoreTuning(faults))
        store.start(outcome: outcomes.report, answered: answers.report)
        return store
    }

    private func row(_ account: String, _ content: String, updated: Int64 = 7) -> CardRow {
        CardRow(account: name(account), content: name(content), updated: updated)
    }

    private func read(_ account: String, from store: Store) throws -> ReadOutcome.Result {
        store.submit(.card(account: name(account)), token: 9)
        let answer = try answers.next()
        #expect(answer.token == 9)
        return answer.result
    }

    @Test func `are put, replaced, removed and read, and loaded without their contents`() throws {
        let store = try start()
        #expect(try read("bob", from: store) == .card(.success(nil)))
        let long = String(repeating: "长", count: 21_800)
        #expect(
            try store.write(
                .putCard(row("bob", "<a/>")), .putCard(row("eve", long, updated: -3)),
                .putCard(row("zoe", "z")), into: outcomes)
                == [.committed, .committed, .committed])
        #expect(try read("bob", from: store) == .card(.success(name("<a/>"))))
        #expect(try read("eve", from: store) == .card(.success(name(long))))
        _ = try store.write(
            .putCard(row("bob", "<b/>", updated: 8)), .removeCard(account: name("zoe")),
            .removeCard(account: name("nobody")), into: outcomes)
        #expect(try read("bob", from: store) == .card(.success(name("<b/>"))))
        #expect(try read("zoe", from: store) == .card(.success(nil)))
        store.stop()
        let summaries = try Contents(of: directory.data).cards
        #expect(
            Set(summaries.map(\.account)) == [name("bob"), name("eve")] && summaries.count == 2)
        #expect(
            summaries.contains(
                CardSummary(account: name("eve"), byteCount: 65_400, updated: -3)))
        #expect(
            summaries.contains(CardSummary(account: name("bob"), byteCount: 4, updated: 8)))
    }

    @Test func `that could not be stored are not there, and one before is`() throws {
        let store = try start()
        _ = try store.write(.putCard(row("bob", "first")), into: outcomes)
        faults.fail(.commit, code: 13)
        let failed = try store.write(.putCard(row("bob", "second")), into: outcomes)
        #expect(failed != [.committed])
        #expect(try read("bob", from: store) == .card(.success(name("first"))))
        faults.fail(.read, code: 10)
        guard case .card(.failure) = try read("bob", from: store) else {
            Issue.record("a read that failed")
            return
        }
        #expect(try read("bob", from: store) == .card(.success(name("first"))))
        store.stop()
    }

    @Test func `whose lazy removal failed are removed before one is put again`() throws {
        let store = try start()
        _ = try store.write(.putCard(row("bob", "first")), into: outcomes)
        faults.fail(.commit, code: 13)
        store.writeLazily(.removeCard(account: name("bob")))
        _ = try store.write(.putCard(row("bob", "second")), into: outcomes)
        let again = try store.write(.putCard(row("bob", "third")), into: outcomes)
        #expect(again == [.committed])
        #expect(try read("bob", from: store) == .card(.success(name("third"))))
        store.stop()
    }

    @Test func `count in a transaction by their bytes`() {
        #expect(Write.putCard(row("a", "")).rowCount == 1)
        #expect(Write.putCard(row("a", "x")).rowCount == 2)
        let long = String(repeating: "x", count: 65_536)
        #expect(Write.putCard(row("a", long)).rowCount == 129)
    }

    @Test func `are none in a database of before, and in a backup`() throws {
        try start().stop()
        let older = try DatabaseQueue(path: directory.database)
        try older.inDatabase { db in
            try db.execute(
                sql: """
                    DROP TABLE card;
                    DELETE FROM grdb_migrations WHERE identifier = '009 card';
                    """)
        }
        try older.close()
        let store = try start()
        #expect(try read("bob", from: store) == .card(.success(nil)))
        _ = try store.write(.putCard(row("bob", "<a/>")), into: outcomes)
        let (file, restored) = (directory.path + "/copy", directory.path + "/restored")
        _ = try Backup.make(of: directory.data, to: file, existing: .kept)
        store.stop()
        try Backup.restore(from: file, to: restored, at: 0)
        let cards = try Contents(of: restored).cards
        #expect(cards == [CardSummary(account: name("bob"), byteCount: 4, updated: 7)])
    }
}
