import Containers
import GRDB
import PresenceStore
import Testing

/// Messages on a disk that fails.
@Suite struct MessageFailureTests {
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

    private func read(_ ids: [Int64], from store: Store) throws -> ReadOutcome.Result {
        store.submit(.messages(ids: ids), token: 7)
        return try answers.next().result
    }

    private func put(_ id: Int64, _ body: [UInt8] = name("hi")) -> Write {
        .putMessage(content(id, body: body), recipients: recipients(id, "al", "bob"))
    }

    /// With the store stopped.
    private func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: directory.database)
        try queue.inDatabase { db in try db.execute(sql: sql) }
        try queue.close()
    }

    /// The numbers of all contents, whether or not a row needs them. With the store stopped.
    private func storedContents() throws -> [Int64] {
        let queue = try DatabaseQueue(path: directory.database)
        defer { try? queue.close() }
        return try queue.inDatabase { db in
            try Int64.fetchAll(db, sql: "SELECT id FROM messageContent ORDER BY id")
        }
    }

    @Test(arguments: [InjectedFaults.Point.write, .commit, .commitInLog], [13, 10 | 4 << 8, 11])
    func `a put that failed leaves nothing, then or later`(
        point: InjectedFaults.Point, code: Int32
    ) throws {
        let store = try start()
        faults.fail(point, code: code)
        #expect(try store.write(put(1), into: outcomes) == [.failed(StoreError(code: code))])
        #expect(try read([1], from: store) == .messages(.success([])))
        // A put is not retained.
        #expect(store.counters.retained == 0)
        #expect(try store.write(put(2), into: outcomes) == [.committed])
        #expect(
            try read([1, 2], from: store) == .messages(.success([content(2, body: name("hi"))])))
        store.stop()
        #expect(try Contents(of: directory.data).messages.map(\.id) == [2, 2])
        #expect(try storedContents() == [2])
    }

    /// The content and two rows are written when the third fails.
    @Test func `a put that fails in its middle leaves nothing`() throws {
        try start().stop()
        try execute(
            """
            CREATE TRIGGER third BEFORE INSERT ON message WHEN NEW.place = 2
            BEGIN SELECT RAISE(FAIL, 'no more'); END
            """)
        let store = try start()
        let three = recipients(1, "al", "bob", "eve", "zoe")
        guard
            case .failed = try store.write(
                .putMessage(content(1), recipients: three), into: outcomes)[0]
        else {
            Issue.record("it did not fail")
            return
        }
        #expect(try store.write(put(2), into: outcomes) == [.committed])
        #expect(try read([1], from: store) == .messages(.success([])))
        store.stop()
        #expect(try Contents(of: directory.data).messages.map(\.id) == [2, 2])
        #expect(try storedContents() == [2])
    }

    @Test func `a full database takes no message, and takes some when others are removed`() throws {
        let store = try start { $0.databasePagesMax = 200 }
        let body = Array(repeating: UInt8(0x61), count: 128 << 10)
        var count: Int64 = 0
        while try store.write(put(count, body), into: outcomes) == [.committed] { count += 1 }
        #expect((1..<7).contains(count))
        let all = (0..<count).map { content($0, body: body) }
        #expect(try read(Array(0...count), from: store) == .messages(.success(all)))
        #expect(
            try store.write(.removeMessages([key(0, 0), key(0, 1)]), into: outcomes)
                == [.committed])
        #expect(try store.write(put(count, body), into: outcomes) == [.committed])
        store.stop()
        #expect(try storedContents() == Array(1...count))
        #expect(try Contents(of: directory.data).messages.count == Int(count) * 2)
    }

    @Test func `a removal that could not be written is written later`() throws {
        let store = try start()
        _ = try store.write(put(1), put(2), into: outcomes)
        // A read tries again, too.
        faults.fail(.commit, code: 13, times: 3)
        store.submit([
            Submission(write: .removeMessages([key(1, 1)])),
            Submission(ticket: 1, write: put(3)),
        ])
        #expect(try outcomes.next() == [Outcome(ticket: 1, result: .failed(StoreError(code: 13)))])
        store.submit([
            Submission(write: .removeMessages([key(1, 0), key(1, 1), key(2, 0)])),
            Submission(ticket: 2, write: put(5)),
        ])
        _ = try outcomes.next()
        // It is still read: which messages were taken is known elsewhere.
        #expect(
            try read([1, 3], from: store) == .messages(.success([content(1, body: name("hi"))])))
        #expect(store.counters.retained == 3)
        #expect(try store.write(put(4), into: outcomes) == [.committed])
        #expect(store.stop().lostWrites == 0)
        #expect(
            try Contents(of: directory.data).messages.map { [$0.id, Int64($0.place)] }
                == [[2, 1], [4, 0], [4, 1]])
        #expect(try storedContents() == [2, 4])
    }

    @Test func `many removals are written in transactions of a limited size`() throws {
        let store = try start { $0.transactionRowsMax = 1_000 }
        let rows = (0..<2_500).map { MessageRow(id: 1, place: UInt16($0), account: name("a")) }
        _ = try store.write(.putMessage(content(1), recipients: rows), put(2), into: outcomes)
        _ = try outcomes.next()
        faults.fail(.commit, code: 13, times: 2)
        store.submit([
            Submission(write: .removeMessages(rows.map { key($0.id, $0.place) })),
            Submission(ticket: 1, write: put(3)),
        ])
        _ = try outcomes.next()
        _ = try read([], from: store)
        #expect(store.counters.retained == 2_500)
        let commits = store.counters.commits
        _ = try store.write(.reserveSequence(upTo: 1), into: outcomes)
        store.stop()
        #expect(store.counters.commits == commits + 3)
        #expect(try storedContents() == [2])
    }

    @Test func `messages that were taken while the disk fails are taken later`() throws {
        let store = try start()
        _ = try store.write(put(1), put(2), put(3), into: outcomes)
        faults.fail(.commit, code: 13)
        store.writeLazily(
            .takeMessages([key(1, 0), key(2, 0), key(2, 1)]), .removeMessages([key(2, 1)]))
        _ = try read([], from: store)
        #expect(store.counters.retained == 3)
        _ = try store.write(.reserveSequence(upTo: 1), into: outcomes)
        store.stop()
        let rows = try Contents(of: directory.data).messages
        #expect(rows.filter { $0.expires == 0 }.map(\.id) == [1, 2])
        #expect(rows.map(\.id) == [1, 1, 2, 3, 3])
    }

    @Test func `removals that a stop loses are counted, and their messages stay`() throws {
        let store = try start()
        _ = try store.write(put(1), put(2), into: outcomes)
        faults.fail(.commit, code: 13, times: 100)
        store.writeLazily(.removeMessages([key(1, 0), key(1, 1)]), .removeMessages([key(1, 0)]))
        #expect(store.stop().lostWrites == 2)
        #expect(try Contents(of: directory.data).messages.map(\.id) == [1, 1, 2, 2])
    }

    // MARK: Model

    /// What must be stored.
    private struct Model {
        var rows: [MessageKey: MessageRow] = [:]
        /// Of every message that was ever stored.
        var contents: [Int64: MessageContentRow] = [:]

        var waiting: [MessageRow] {
            rows.values.sorted { ($0.id, $0.place) < ($1.id, $1.place) }
        }

        func contents(_ ids: [Int64]) -> [MessageContentRow] {
            let waiting = Set(rows.keys.map(\.id))
            return ids.filter { waiting.contains($0) }.compactMap { contents[$0] }
        }

        /// Carries out what has not failed.
        mutating func apply(_ batch: [Submission], failed: Set<StoreTicket>) {
            for submission in batch {
                if let ticket = submission.ticket, failed.contains(ticket) { continue }
                switch submission.write {
                case .putMessage(let content, let recipients):
                    contents[content.id] = content
                    for row in recipients { rows[key(row.id, row.place)] = row }
                case .removeMessages(let keys):
                    for key in keys { rows[key] = nil }
                default: break
                }
            }
        }
    }

    /// Random writes and reads on a disk that fails at random.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `what is stored is as the model`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let store = try start {
            $0.transactionRowsMax = 6
            $0.checkpointPages = 8
        }
        var model = Model()
        var failures = 0
        for round in 1...150 {
            armFault(&random)
            let batch = batch(Int64(round), &random)
            store.submit(batch)
            let recent = Int64(max(0, round * 8 - 60))...Int64(round * 8 + 5)
            let ids = (0..<6).map { _ in Int64.random(in: recent, using: &random) }
            store.submit(.messages(ids: ids), token: UInt64(round))
            model.apply(batch, failed: try outcomes.failedTickets())
            switch try answers.next().result {
            case .messages(.success(let found)):
                let expected = model.contents(ids)
                // What could not be removed yet may be among them.
                let isExact = store.counters.retained == 0
                let wanted = isExact ? found : found.filter { expected.contains($0) }
                #expect(wanted == expected, "seed \(seed) round \(round)")
                #expect(found.allSatisfy { model.contents[$0.id] == $0 })
            case .messages(.failure): failures += 1
            default: Issue.record("the answer to another question")
            }
        }
        #expect(failures > 3, "reads failed often enough to show anything")
        for point in Self.faultPoints { faults.fail(point, code: 0, times: 0) }
        #expect(store.stop().lostWrites == 0)
        let stored = try Contents(of: directory.data).messages
        #expect(stored == model.waiting.map { loaded($0) }, "seed \(seed)")
        #expect(try storedContents() == Set(model.rows.keys.map(\.id)).sorted(), "seed \(seed)")
    }

    /// Puts of new messages, and removals of any, with a ticket at the end that is waited for.
    private func batch(_ round: Int64, _ random: inout SplitMix64) -> [Submission] {
        var batch: [Submission] = []
        for number in 1...Int64.random(in: 1...5, using: &random) {
            if Bool.random(using: &random) {
                let id = round * 8 + number
                let size = [0, 5, 600, 5_000].randomElement(using: &random) ?? 0
                let body = (0..<size).map { UInt8(truncatingIfNeeded: id + Int64($0)) & 0x7F }
                let rows = recipients(id, "al", "bob", "eve")
                let count = Int.random(in: 1...3, using: &random)
                batch.append(
                    Submission(
                        ticket: StoreTicket(UInt64(number)),
                        write: .putMessage(
                            content(id, body: body), recipients: Array(rows.prefix(count)))))
            } else {
                let keys = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    key(
                        Int64.random(in: max(0, round * 8 - 60)...round * 8 + 5, using: &random),
                        UInt16.random(in: 0...2, using: &random))
                }
                batch.append(Submission(write: .removeMessages(keys)))
            }
        }
        return batch + [Submission(ticket: 0, write: .reserveSequence(upTo: 0))]
    }

    private static let faultPoints: [InjectedFaults.Point] = [
        .write, .commit, .commitInLog, .reopen, .read,
    ]

    private func armFault(_ random: inout SplitMix64) {
        guard Int.random(in: 0..<2, using: &random) == 0,
            let point = Self.faultPoints.randomElement(using: &random),
            let code = ([13, 10 | 4 << 8, 11] as [Int32]).randomElement(using: &random)
        else { return }
        faults.fail(point, code: code, after: Int.random(in: 0..<2, using: &random))
    }
}
