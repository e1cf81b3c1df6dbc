import Dispatch
import PresenceStore
import Testing

/// What happens to writes while the disk rejects them.
@Suite struct FailureTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()
    private let faults = InjectedFaults()

    private static let full: Int32 = 13
    private static let failedSync: Int32 = 10 | 4 << 8
    private static let corrupt: Int32 = 11

    private func start(_ change: (inout StoreTuning) -> Void = { _ in }) throws -> Store {
        var tuning = StoreTuning(faults)
        change(&tuning)
        let store = try Store.open(directory: directory.data, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report)
        return store
    }

    private func put(_ publisher: String, created: Int64 = 1, expires: Int64 = 2) -> Write {
        .putSubscriptions(
            subscriber: name("al"), type: 1, publishers: names([publisher]), created: created,
            expires: expires)
    }

    private func remove(_ publisher: String) -> Write {
        .removeSubscriptions(subscriber: name("al"), type: 1, publishers: names([publisher]))
    }

    private func stored(_ store: Store) throws -> [String] {
        #expect(store.stop().lostWrites == 0)
        return try Contents(of: directory.data).subscriptions(of: "al")
    }

    @Test(
        arguments: [InjectedFaults.Point.write, .commit, .commitInLog], [full, failedSync, corrupt])
    func `a write that failed never reaches the disk`(
        point: InjectedFaults.Point, code: Int32
    ) throws {
        let store = try start()
        #expect(try store.write(put("before"), into: outcomes) == [.committed])
        faults.fail(point, code: code)
        let failed = Outcome.Result.failed(StoreError(code: code))
        outcomes.hold()
        #expect(try store.write(put("x"), put("y"), into: outcomes) == [failed, failed])
        let image = try directory.crashImage()
        outcomes.release()
        #expect(try Contents(of: image.data).subscriptions(of: "al") == ["before 1 2"])
        #expect(try store.write(put("after"), into: outcomes) == [.committed])
        #expect(store.counters.failures == 1)
        #expect(try stored(store) == ["after 1 2", "before 1 2"])
    }

    /// A backup copies the log into the database. The next commit begins the log again: the failed
    /// one, or one before.
    @Test(arguments: [0, 1, 2, 12])
    func `a write that failed stays away, also after a backup`(goodCommits: Int) throws {
        let store = try start()
        // Many frames of the log before.
        for number in 0..<5 {
            #expect(try store.write(put("a\(number)"), into: outcomes) == [.committed])
        }
        _ = try Backup.make(
            of: directory.data, to: directory.path + "/copy", existing: .kept)
        // The first has more frames than the log before.
        for number in 0..<goodCommits {
            let publishers = (0..<(number == 0 ? 2_000 : 1)).map { "b\(number)-\($0)" }
            let write = Write.putSubscriptions(
                subscriber: name("bo"), type: 1, publishers: names(publishers), created: 1,
                expires: 2)
            #expect(try store.write(write, into: outcomes) == [.committed])
        }
        faults.fail(.commitInLog, code: Self.failedSync)
        outcomes.hold()
        _ = try store.write(put("x"), into: outcomes)
        let image = try directory.crashImage()
        outcomes.release()
        let left = try Contents(of: image.data)
        #expect(left.subscriptions(of: "al") == (0..<5).map { "a\($0) 1 2" })
        let good = goodCommits == 0 ? 0 : 2_000 + goodCommits - 1
        #expect(left.subscriptions(of: "bo").count == good)
        #expect(try store.write(put("after"), into: outcomes) == [.committed])
        #expect(try stored(store).count == 6)
    }

    @Test func `a lazy write that failed is written first next time`() throws {
        let store = try start()
        faults.fail(.commit, code: Self.full)
        store.submit([
            Submission(write: put("x", created: 5)), Submission(ticket: 1, write: put("y")),
        ])
        #expect(try outcomes.next().map(\.ticket) == [1])
        #expect(try store.write(put("x", created: 9, expires: 9), into: outcomes) == [.committed])
        #expect(try stored(store) == ["x 5 9"])
    }

    @Test func `a retained put followed by a removal ends removed`() throws {
        let store = try start()
        faults.fail(.commit, code: Self.full)
        store.submit([Submission(write: put("x")), Submission(ticket: 1, write: put("y"))])
        _ = try outcomes.next()
        #expect(try store.write(remove("x"), into: outcomes) == [.committed])
        #expect(try stored(store) == [])
    }

    @Test func `a retained removal followed by a put ends as a new row`() throws {
        let store = try start()
        _ = try store.write(put("x", created: 1), into: outcomes)
        faults.fail(.commit, code: Self.full, times: 2)
        store.submit([Submission(write: remove("x")), Submission(ticket: 1, write: put("y"))])
        _ = try outcomes.next()
        store.submit([
            Submission(write: put("x", created: 7)), Submission(ticket: 2, write: put("y")),
        ])
        _ = try outcomes.next()
        #expect(try stored(store) == ["x 7 2"])
    }

    @Test func `a failure in a later transaction of a round spares the earlier`() throws {
        let store = try start { $0.transactionRowsMax = 2 }
        faults.fail(.commit, code: Self.full, after: 1)
        store.submit(
            (UInt64(0)..<6).map { number in
                Submission(ticket: StoreTicket(number), write: put("p\(number)"))
            })
        #expect(try outcomes.next().map(\.result) == [.committed, .committed])
        let rest = try outcomes.next()
        #expect(
            rest
                == (2..<6).map {
                    Outcome(ticket: StoreTicket($0), result: .failed(StoreError(code: 13)))
                })
        #expect(try stored(store) == ["p0 1 2", "p1 1 2"])
    }

    @Test func `while the database cannot be opened again every write fails`() throws {
        let store = try start()
        faults.fail(.commit, code: Self.failedSync)
        faults.fail(.reopen, code: 14, times: 1)
        faults.fail(.scrub, code: 10, times: 2)
        store.writeLazily(put("lazy"))
        // Whether the lazy write fails alone or with the first of these, three tries fail.
        var failureCount = 0
        while try store.write(put("x"), into: outcomes) != [.committed] { failureCount += 1 }
        #expect((2...3).contains(failureCount))
        #expect(store.counters.failures == 3)
        #expect(try stored(store) == ["lazy 1 2", "x 1 2"])
    }

    @Test func `lazy writes are written by themselves when the disk recovers`() throws {
        let committed = DispatchSemaphore(value: 0)
        let faults = InjectedFaults { if $0 == .commitInLog { committed.signal() } }
        faults.fail(.commit, code: Self.failedSync, times: 4)
        let store = try start {
            $0.faults = faults
            $0.backoffMillisecondsMin = 1
            $0.backoffMillisecondsMax = 2
        }
        store.writeLazily(put("x"))
        #expect(committed.wait(timeout: .now() + 30) == .success)
        #expect(try stored(store) == ["x 1 2"])
        #expect(store.counters.failures == 4)
    }

    @Test func `a stop reports how many lazy writes are lost`() throws {
        let store = try start()
        faults.fail(.commit, code: Self.full, times: .max)
        store.writeLazily(put("x"), put("y"), put("x"))
        store.writeLazily(.reserveSequence(upTo: 5))
        #expect(store.stop().lostWrites == 3)
    }
}
