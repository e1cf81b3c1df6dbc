import GRDB
import Testing

@testable import PresenceStore

/// Which messages were handed over to the app server.
@Suite struct HandOverTests {
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

    private func loaded() throws -> [String] {
        try Contents(of: directory.data).messages.map {
            "\($0.id) \($0.place): \($0.handOver) \($0.why)"
        }
    }

    @Test func `are stored with the message, or later`() throws {
        let store = try start()
        var rows = recipients(1, "al", "bob", "eve")
        (rows[0].handOver, rows[0].why) = (7, 1)
        _ = try store.write(.putMessage(content(1), recipients: rows), into: outcomes)
        let late = HandOverRow(key: key(1, 1), number: .max, why: 2)
        // One that was taken meanwhile is ignored.
        let gone = HandOverRow(key: key(9, 1), number: 8, why: 2)
        #expect(try store.write(.handOver([late, gone]), into: outcomes) == [.committed])
        store.stop()
        #expect(try loaded() == ["1 0: 7 1", "1 1: \(Int64.max) 2", "1 2: 0 0"])
        #expect(Write.handOver([late, gone]).rowCount == 2)
    }

    @Test func `are not stored if the disk fails`() throws {
        let store = try start()
        _ = try store.write(
            .putMessage(content(1), recipients: recipients(1, "al")), into: outcomes)
        faults.fail(.commit, code: 13)
        let late = HandOverRow(key: key(1, 0), number: 7, why: 2)
        let failed = try store.write(.handOver([late]), into: outcomes)
        #expect(failed != [.committed])
        store.stop()
        #expect(try loaded() == ["1 0: 0 0"])
    }

    @Test func `begin in a database of before, which gets an identity of its own`() throws {
        let first = try start()
        _ = try first.write(
            .putMessage(content(1), recipients: recipients(1, "al")), into: outcomes)
        first.stop()
        let before = try Contents(of: directory.data).secret.identity
        let older = try DatabaseQueue(path: directory.database)
        try older.inDatabase { db in
            try db.execute(
                sql: """
                    ALTER TABLE message DROP COLUMN handOver;
                    ALTER TABLE message DROP COLUMN why;
                    DELETE FROM service WHERE key = 'identity';
                    DELETE FROM grdb_migrations WHERE identifier = '011 handOver';
                    """)
        }
        try older.close()
        #expect(try loaded() == ["1 0: 0 0"])
        let after = try Contents(of: directory.data).secret.identity
        #expect(after != nil && after != before)
        #expect(try Contents(of: directory.data).secret.identity == after)
    }
}
