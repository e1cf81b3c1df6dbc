import Containers
import GRDB
import PresenceStore
import Testing

/// What is kept of passwords, and how it is read while the store runs.
@Suite struct CredentialTests {
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

    private func row(_ account: String, _ fill: UInt8 = 0) -> CredentialRow {
        var row = CredentialRow(account: name(account))
        row.iterations = 4_096
        row.salt = (0..<16).map { fill &+ $0 }
        row.storedSHA1 = Array(repeating: fill, count: 20)
        row.serverSHA1 = [0, 0, 0, fill]
        row.storedSHA256 = (0..<32).map { 255 - $0 }
        row.serverSHA256 = [0xFF, 0xC0, 0x80, 0, fill]
        row.created = -5 + Int64(fill)
        return row
    }

    private func read(_ account: String, from store: Store) throws -> ReadOutcome.Result {
        store.submit(.credential(account: name(account)), token: 7)
        let answer = try answers.next()
        #expect(answer.token == 7)
        return answer.result
    }

    @Test func `are put, replaced, removed and read`() throws {
        let store = try start()
        #expect(try read("bob", from: store) == .credential(.success(nil)))
        #expect(
            try store.write(
                .putCredential(row("bob")), .putCredential(row("eve")), into: outcomes)
                == [.committed, .committed])
        #expect(try read("bob", from: store) == .credential(.success(row("bob"))))
        _ = try store.write(.putCredential(row("bob", 9)), into: outcomes)
        #expect(try read("bob", from: store) == .credential(.success(row("bob", 9))))
        _ = try store.write(.removeCredential(account: name("bob")), into: outcomes)
        #expect(try read("bob", from: store) == .credential(.success(nil)))
        #expect(try read("eve", from: store) == .credential(.success(row("eve"))))
        #expect(try read("ev", from: store) == .credential(.success(nil)))
        store.stop()
        #expect(try Contents(of: directory.data).passwordCount == 1)
        let again = try start()
        #expect(try read("eve", from: again) == .credential(.success(row("eve"))))
        again.stop()
    }

    @Test func `empty keys are read as empty keys`() throws {
        let store = try start()
        let empty = CredentialRow(account: name("bob"))
        _ = try store.write(.putCredential(empty), into: outcomes)
        #expect(try read("bob", from: store) == .credential(.success(empty)))
        store.stop()
    }

    /// A read and the writes before it may be in one round, and in one with others.
    @Test func `a read sees what was submitted before it`() throws {
        let store = try start()
        // The thread is held, so that everything gathers.
        outcomes.hold()
        store.submit([Submission(ticket: 1, write: .reserveSequence(upTo: 1))])
        _ = try outcomes.next()
        store.submit([
            Submission(write: .putCredential(row("bob"))),
            Submission(write: .putCredential(row("eve"))),
        ])
        store.submit(.credential(account: name("bob")), token: 1)
        store.submit(.credential(account: name("zoe")), token: 2)
        store.submit([Submission(write: .removeCredential(account: name("eve")))])
        store.submit(.credential(account: name("eve")), token: 3)
        outcomes.release()
        #expect(
            try [answers.next(), answers.next(), answers.next()] == [
                ReadOutcome(token: 1, result: .credential(.success(row("bob")))),
                ReadOutcome(token: 2, result: .credential(.success(nil))),
                ReadOutcome(token: 3, result: .credential(.success(nil))),
            ])
        store.stop()
    }

    @Test func `a read does not wait for lazy statuses`() throws {
        let store = try start {
            $0.gatherMilliseconds = 600_000
            $0.idleMilliseconds = 600_000
        }
        store.submit([Submission(write: .putStatus(StatusRow(account: name("al"), type: 1)))])
        #expect(try read("bob", from: store) == .credential(.success(nil)))
        #expect(try read("bob", from: store) == .credential(.success(nil)))
        store.stop()
    }

    @Test func `what is asked before the stop is answered`() throws {
        let store = try start()
        _ = try store.write(.putCredential(row("bob")), into: outcomes)
        for token in 0..<100 {
            store.submit(.credential(account: name("bob")), token: UInt64(token))
        }
        store.stop()
        for token in 0..<100 {
            let expected = ReadOutcome(
                token: UInt64(token), result: .credential(.success(row("bob"))))
            #expect(try answers.next() == expected)
        }
    }

    @Test(arguments: [13, 10 | 1 << 8, 11, 5] as [Int32])
    func `a read that fails says so, and the next one is as before`(code: Int32) throws {
        let store = try start()
        _ = try store.write(.putCredential(row("bob")), into: outcomes)
        faults.fail(.read, code: code)
        #expect(try read("bob", from: store) == .credential(.failure(StoreError(code: code))))
        #expect(try read("bob", from: store) == .credential(.success(row("bob"))))
        #expect(
            try store.write(.putCredential(row("bob", 3)), into: outcomes) == [.committed])
        #expect(try read("bob", from: store) == .credential(.success(row("bob", 3))))
        store.stop()
    }

    @Test func `a database that cannot be opened fails reads`() throws {
        let store = try start()
        _ = try store.write(.putCredential(row("bob")), into: outcomes)
        faults.fail(.commitInLog, code: 10 | 4 << 8)
        _ = try store.write(.putCredential(row("bob", 1)), into: outcomes)
        faults.fail(.reopen, code: 14)
        #expect(try read("bob", from: store) == .credential(.failure(StoreError(code: 14))))
        // The write that was reported as failed has no effect.
        #expect(try read("bob", from: store) == .credential(.success(row("bob"))))
        store.stop()
    }

    /// A password that was removed must not let an account in because the disk was full.
    @Test func `lazy writes that wait for the disk count`() throws {
        let store = try start()
        _ = try store.write(
            .putCredential(row("bob")), .putCredential(row("eve")), into: outcomes)
        faults.fail(.commit, code: 13, times: 3)
        store.submit([
            Submission(write: .removeCredential(account: name("bob"))),
            Submission(write: .putCredential(row("eve", 4))),
            Submission(ticket: 1, write: .putCredential(row("joe"))),
        ])
        _ = try outcomes.next()
        #expect(try read("bob", from: store) == .credential(.success(nil)))
        #expect(try read("eve", from: store) == .credential(.success(row("eve", 4))))
        #expect(store.counters.retained == 2)
        // The disk recovers.
        _ = try store.write(.reserveSequence(upTo: 2), into: outcomes)
        #expect(try read("bob", from: store) == .credential(.success(nil)))
        #expect(store.stop().lostWrites == 0)
        #expect(try Contents(of: directory.data).passwordCount == 1)
    }

    /// Random writes and reads on a disk that fails at random, against a dictionary.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `what is read is as the model`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let store = try start {
            $0.transactionRowsMax = 3
            $0.checkpointPages = 8
        }
        var model: [String: CredentialRow] = [:]
        var failures = 0
        for round in 1...150 {
            armFault(&random)
            var batch: [Submission] = []
            for ticket in 1...UInt64.random(in: 1...5, using: &random) {
                let account = ["al", "bob", "eve"].randomElement(using: &random) ?? "al"
                let write: Write =
                    Bool.random(using: &random)
                    ? .putCredential(row(account, UInt8(round)))
                    : .removeCredential(account: name(account))
                let isLazy = Bool.random(using: &random)
                batch.append(Submission(ticket: isLazy ? nil : StoreTicket(ticket), write: write))
            }
            batch.append(Submission(ticket: 0, write: .reserveSequence(upTo: 0)))
            store.submit(batch)
            let asked = ["al", "bob", "eve", "zoe"].randomElement(using: &random) ?? "al"
            store.submit(.credential(account: name(asked)), token: UInt64(round))
            try apply(batch, to: &model)
            let answer = try answers.next()
            #expect(answer.token == UInt64(round))
            if case .credential(.failure) = answer.result {
                failures += 1
            } else {
                #expect(
                    answer.result == .credential(.success(model[asked])), "seed \(seed) \(round)")
            }
        }
        #expect(failures > 3, "reads failed often enough to show anything")
        // From here on the disk is sound.
        for point in Self.faultPoints { faults.fail(point, code: 0, times: 0) }
        #expect(store.stop().lostWrites == 0)
        #expect(try Contents(of: directory.data).passwordCount == model.count)
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

    /// Takes the outcomes of a batch, and carries out what has not failed.
    private func apply(_ batch: [Submission], to model: inout [String: CredentialRow]) throws {
        let failed = try outcomes.failedTickets()
        for submission in batch {
            if let ticket = submission.ticket, failed.contains(ticket) { continue }
            switch submission.write {
            case .putCredential(let row):
                model[String(decoding: row.account, as: UTF8.self)] = row
            case .removeCredential(let account):
                model[String(decoding: account, as: UTF8.self)] = nil
            default: break
            }
        }
    }

    @Test func `a database keeps a secret of its own`() throws {
        try start().stop()
        let secret = try Contents(of: directory.data).secret.bytes
        #expect(secret.count == 32)
        #expect(try Contents(of: directory.data).secret.bytes == secret)
        let other = TemporaryDirectory()
        try Store.open(directory: other.data, durability: .full).stop()
        #expect(try Contents(of: other.data).secret.bytes != secret)
    }

    @Test func `a database of before has no credentials`() throws {
        try start().stop()
        let older = try DatabaseQueue(path: directory.database)
        try older.inDatabase { db in
            try db.execute(
                sql: """
                    DROP TABLE credential;
                    DELETE FROM service WHERE key = 'passwordSecret';
                    DELETE FROM grdb_migrations WHERE identifier = '006 credential';
                    """)
        }
        try older.close()
        let store = try start()
        #expect(try read("bob", from: store) == .credential(.success(nil)))
        #expect(try store.write(.putCredential(row("bob")), into: outcomes) == [.committed])
        store.stop()
    }
}
