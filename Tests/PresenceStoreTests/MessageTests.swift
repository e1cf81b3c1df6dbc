import GRDB
import Testing

@testable import PresenceStore

/// Messages that wait for their recipients, and how their contents are read.
@Suite struct MessageTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()
    private let answers = Answers()
    private let faults = InjectedFaults()

    private func start(_ change: (inout StoreTuning) -> Void = { _ in }) throws -> Store {
        var tuning = StoreTuning(faults)
        change(&tuning)
        let store = try Store.open(directory: directory.data, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report, answered: answers.report)
        return store
    }

    private func read(_ ids: Int64..., from store: Store) throws -> ReadOutcome.Result {
        store.submit(.messages(ids: ids), token: 7)
        let answer = try answers.next()
        #expect(answer.token == 7)
        return answer.result
    }

    private func loadedMessages() throws -> [MessageRow] {
        try Contents(of: directory.data).messages
    }

    /// The numbers of all contents, whether or not a row needs them. With the store stopped.
    private func storedContents() throws -> [Int64] {
        let queue = try DatabaseQueue(path: directory.database)
        defer { try? queue.close() }
        return try queue.inDatabase { db in
            try Int64.fetchAll(db, sql: "SELECT id FROM messageContent ORDER BY id")
        }
    }

    // MARK: Puts and removals

    @Test func `are put, read, and loaded with their sender`() throws {
        let store = try start()
        var row = recipients(5, "lisi")[0]
        row.device = name("pad")
        row.bytes = .max
        row.expires = -1
        row.isOfStranger = true
        #expect(try read(5, from: store) == .messages(.success([])))
        #expect(
            try store.write(.putMessage(content(5), recipients: [row]), into: outcomes)
                == [.committed])
        #expect(try read(5, from: store) == .messages(.success([content(5)])))
        store.stop()
        #expect(try loadedMessages() == [loaded(row)])
        let again = try start()
        #expect(try read(5, from: again) == .messages(.success([content(5)])))
        again.stop()
    }

    @Test func `of the service have no sender, and may have an empty ext and no ref`() throws {
        let store = try start()
        var plain = MessageContentRow(id: .max)
        plain.ext = []
        let row = MessageRow(id: .max, place: .max, account: name("lisi"))
        _ = try store.write(.putMessage(plain, recipients: [row]), into: outcomes)
        #expect(try read(.max, from: store) == .messages(.success([plain])))
        store.stop()
        #expect(try loadedMessages() == [row])
    }

    @Test func `are loaded in the order of their keys`() throws {
        let store = try start()
        let later = recipients(300, "al", "bob", "eve")
        let sooner = recipients(20, "eve", "al")
        _ = try store.write(
            .putMessage(content(300), recipients: later.reversed()),
            .putMessage(content(20, from: "ww"), recipients: sooner), into: outcomes)
        store.stop()
        #expect(
            try loadedMessages()
                == sooner.map { loaded($0, from: "ww") } + later.map { loaded($0) })
    }

    @Test func `are removed one by one, and the content with the last`() throws {
        let store = try start()
        let rows = recipients(1, "al", "bob", "eve")
        _ = try store.write(
            .putMessage(content(1), recipients: rows),
            .putMessage(content(2), recipients: recipients(2, "al")), into: outcomes)
        #expect(
            try store.write(.removeMessages([key(1, 1)]), into: outcomes) == [.committed])
        #expect(try read(1, from: store) == .messages(.success([content(1)])))
        // Again, one that never was, and one of a message that never was.
        #expect(
            try store.write(
                .removeMessages([key(1, 1), key(1, 1), key(1, 9), key(77)]), into: outcomes)
                == [.committed])
        #expect(try read(1, from: store) == .messages(.success([content(1)])))
        #expect(
            try store.write(.removeMessages([key(1, 2), key(1, 0)]), into: outcomes)
                == [.committed])
        #expect(try read(1, 2, from: store) == .messages(.success([content(2)])))
        _ = try store.write(.removeMessages([key(1, 0)]), into: outcomes)
        store.stop()
        #expect(try loadedMessages() == [loaded(recipients(2, "al")[0])])
        #expect(try storedContents() == [2])
    }

    @Test func `that one session has taken keep their contents, until the next start`() throws {
        let store = try start()
        _ = try store.write(
            .putMessage(content(1), recipients: recipients(1, "al", "bob")),
            .putMessage(content(2), recipients: recipients(2, "al")),
            .takeMessages([key(1), key(2), key(2, 9), key(77)]), into: outcomes)
        #expect(
            try read(1, 2, from: store) == .messages(.success([content(1), content(2)])))
        _ = try store.write(.removeMessages([key(1, 1)]), into: outcomes)
        #expect(try read(1, from: store) == .messages(.success([content(1)])))
        _ = try store.write(.removeMessages([key(1)]), into: outcomes)
        #expect(try read(1, 2, from: store) == .messages(.success([content(2)])))
        store.stop()
        #expect(try loadedMessages().map(\.expires) == [0], "the engine leaves it out")
        let again = try start()
        _ = try again.write(.removeExpired(before: 1), into: outcomes)
        again.stop()
        #expect(try storedContents() == [])
    }

    @Test func `of a removal that is submitted after the put are gone`() throws {
        let store = try start()
        store.submit([
            Submission(
                ticket: 1, write: .putMessage(content(1), recipients: recipients(1, "al"))),
            Submission(write: .removeMessages([key(1)])),
        ])
        #expect(try outcomes.next() == [Outcome(ticket: 1, result: .committed)])
        #expect(store.stop().lostWrites == 0)
        #expect(try loadedMessages() == [])
        #expect(try storedContents() == [])
    }

    @Test func `count by their bytes in the size of a transaction`() throws {
        let rows = recipients(1, "al", "bob")
        func count(_ bytes: Int) -> Int {
            var content = MessageContentRow(id: 1)
            content.body = Array(repeating: 1, count: bytes - bytes / 3)
            content.ext = bytes < 3 ? nil : Array(repeating: 2, count: bytes / 3)
            return Write.putMessage(content, recipients: rows).rowCount
        }
        #expect([0, 1, 512, 513, 1_024, 128 << 10].map(count) == [2, 3, 3, 4, 4, 258])
        #expect(Write.removeMessages([key(1), key(1, 1), key(2)]).rowCount == 3)
        let store = try start { $0.transactionRowsMax = 20 }
        store.submit(
            (0..<5).map { id in
                Submission(
                    ticket: StoreTicket(UInt64(id)),
                    write: .putMessage(
                        content(id, body: Array(repeating: 65, count: 4_000)),
                        recipients: recipients(id, "al")))
            })
        let reports = try (0..<3).map { _ in try outcomes.next().map(\.ticket) }
        #expect(reports == [[0, 1], [2, 3], [4]])
        store.stop()
    }

    @Test func `that are removed lazily wait for others`() {
        #expect(Submission(write: .removeMessages([key(1)])).canWait)
        #expect(Submission(write: .takeMessages([key(1)])).canWait)
        #expect(!Submission(ticket: 1, write: .removeMessages([key(1)])).canWait)
    }

    @Test func `do not show their texts in a log`() {
        #expect("\(content(5))" == "MessageContentRow(5)")
    }

    // MARK: Texts

    @Test func `have texts that are kept whole`() throws {
        let store = try start()
        // U+0000 at the beginning, in the middle and at the end.
        var body = Array(repeating: UInt8(0x61), count: 128 << 10)
        for place in [0, 1, 4_096, 70_000, body.count - 1] { body[place] = 0 }
        var large = content(1, body: body)
        large.ext = [0]
        large.ref = [0x62, 0, 0x62]
        let empty = content(2, body: [])
        _ = try store.write(
            .putMessage(large, recipients: recipients(1, "al")),
            .putMessage(empty, recipients: recipients(2, "al")), into: outcomes)
        #expect(try read(1, 2, from: store) == .messages(.success([large, empty])))
        store.stop()
        let again = try start()
        #expect(try read(1, 2, from: again) == .messages(.success([large, empty])))
        again.stop()
    }

    // MARK: Reading

    @Test func `are read in the order of the question, without those that are gone`() throws {
        let store = try start()
        for id in [3, 1, 2] as [Int64] {
            _ = try store.write(
                .putMessage(content(id), recipients: recipients(id, "al")), into: outcomes)
        }
        #expect(
            try read(2, 9, 3, .min, 1, from: store)
                == .messages(.success([content(2), content(3), content(1)])))
        #expect(try read(from: store) == .messages(.success([])))
        store.writeLazily(.removeMessages([key(3)]))
        #expect(try read(2, 3, 1, from: store) == .messages(.success([content(2), content(1)])))
        store.stop()
    }

    @Test func `are read as they are after what was submitted before`() throws {
        let store = try start()
        // The thread is held, so that everything gathers.
        outcomes.hold()
        store.submit([Submission(ticket: 1, write: .reserveSequence(upTo: 1))])
        _ = try outcomes.next()
        store.submit([
            Submission(
                ticket: 2, write: .putMessage(content(1), recipients: recipients(1, "al"))),
            Submission(
                ticket: 3, write: .putMessage(content(2), recipients: recipients(2, "al"))),
        ])
        store.submit(.messages(ids: [2, 1]), token: 1)
        store.submit(.credential(account: name("al")), token: 2)
        store.submit(.undelivered(ids: [2]), token: 3)
        outcomes.release()
        #expect(
            try answers.next()
                == ReadOutcome(token: 1, result: .messages(.success([content(2), content(1)]))))
        #expect(try answers.next() == ReadOutcome(token: 2, result: .credential(.success(nil))))
        #expect(
            try answers.next()
                == ReadOutcome(token: 3, result: .undelivered(.success([content(2)]))))
        store.stop()
    }

    @Test(arguments: [13, 10 | 1 << 8, 11, 5] as [Int32])
    func `are read again after a failure`(code: Int32) throws {
        let store = try start()
        _ = try store.write(
            .putMessage(content(1), recipients: recipients(1, "al")), into: outcomes)
        faults.fail(.read, code: code)
        #expect(try read(1, from: store) == .messages(.failure(StoreError(code: code))))
        #expect(try read(1, from: store) == .messages(.success([content(1)])))
        store.stop()
    }

    // MARK: Expiry

    @Test func `that expired before a time are removed`() throws {
        let store = try start()
        let gone = recipients(1, "al", "bob", expires: 99)
        let kept = recipients(2, "al", expires: 100)
        var mixed = recipients(3, "al", "bob", "eve", expires: 99)
        mixed[1].expires = 100
        _ = try store.write(
            .putMessage(content(1), recipients: gone), .putMessage(content(2), recipients: kept),
            .putMessage(content(3), recipients: mixed), into: outcomes)
        store.stop()
        #expect(try loadedMessages().count == 6, "the reader knows the time")
        let again = try start()
        #expect(try again.write(.removeExpired(before: 100), into: outcomes) == [.committed])
        #expect(try read(1, 2, 3, from: again) == .messages(.success([content(2), content(3)])))
        again.stop()
        #expect(try loadedMessages() == [kept[0], mixed[1]].map { loaded($0) })
        #expect(try storedContents() == [2, 3])
    }

    // MARK: Files

    @Test func `have no rows in a database of before`() throws {
        var status = StatusRow(account: name("al"), type: 1)
        status.ext = name("x")
        let first = try start()
        _ = try first.write(.putStatus(status), into: outcomes)
        first.stop()
        let older = try DatabaseQueue(path: directory.database)
        try older.inDatabase { db in
            try db.execute(
                sql: """
                    DROP TABLE message;
                    DROP TABLE messageContent;
                    DELETE FROM service WHERE key = 'identity';
                    DELETE FROM grdb_migrations
                    WHERE identifier IN ('008 message', '011 handOver');
                    """)
        }
        try older.close()
        let store = try start()
        #expect(try read(1, from: store) == .messages(.success([])))
        _ = try store.write(
            .putMessage(content(1), recipients: recipients(1, "al")), into: outcomes)
        #expect(try read(1, from: store) == .messages(.success([content(1)])))
        store.stop()
        let contents = try Contents(of: directory.data)
        #expect(contents.messages == [loaded(recipients(1, "al")[0])])
        #expect(contents.statuses == ["al 1": status])
    }

    @Test func `are on disk when the put is reported, and in a backup`() throws {
        let store = try start()
        outcomes.hold()
        _ = try store.write(
            .putMessage(content(1), recipients: recipients(1, "al")), into: outcomes)
        let image = try directory.crashImage()
        outcomes.release()
        let expected = [loaded(recipients(1, "al")[0])]
        #expect(try Contents(of: image.data).messages == expected)
        let (file, restored) = (directory.path + "/copy", directory.path + "/restored")
        _ = try Backup.make(of: directory.data, to: file, existing: .kept)
        store.stop()
        try Backup.restore(from: file, to: restored, at: 0)
        #expect(try Contents(of: restored).messages == expected)
        let copy = try Store.open(directory: restored, durability: .full)
        copy.start(outcome: outcomes.report, answered: answers.report)
        #expect(try read(1, from: copy) == .messages(.success([content(1)])))
        copy.stop()
    }

    // MARK: Hand-overs

    private func handOvers() throws -> [String] {
        try loadedMessages().map { "\($0.id) \($0.place): \($0.handOver) \($0.why)" }
    }

    @Test func `are handed over when they are put, or later`() throws {
        let store = try start()
        var rows = recipients(1, "al", "bob", "eve")
        (rows[0].handOver, rows[0].why) = (7, 1)
        _ = try store.write(.putMessage(content(1), recipients: rows), into: outcomes)
        let late = HandOverRow(key: key(1, 1), number: .max, why: 2)
        // One that was taken meanwhile is ignored.
        let gone = HandOverRow(key: key(9, 1), number: 8, why: 2)
        #expect(try store.write(.handOver([late, gone]), into: outcomes) == [.committed])
        store.stop()
        #expect(try handOvers() == ["1 0: 7 1", "1 1: \(Int64.max) 2", "1 2: 0 0"])
        #expect(Write.handOver([late, gone]).rowCount == 2)
    }

    @Test func `are not handed over if the disk fails`() throws {
        let store = try start()
        _ = try store.write(
            .putMessage(content(1), recipients: recipients(1, "al")), into: outcomes)
        faults.fail(.commit, code: 13)
        let late = HandOverRow(key: key(1, 0), number: 7, why: 2)
        let failed = try store.write(.handOver([late]), into: outcomes)
        #expect(failed != [.committed])
        store.stop()
        #expect(try handOvers() == ["1 0: 0 0"])
    }

    @Test func `of a database of before were not handed over, and it gets an identity`() throws {
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
        #expect(try handOvers() == ["1 0: 0 0"])
        let after = try Contents(of: directory.data).secret.identity
        #expect(after != nil && after != before)
        #expect(try Contents(of: directory.data).secret.identity == after)
    }
}
