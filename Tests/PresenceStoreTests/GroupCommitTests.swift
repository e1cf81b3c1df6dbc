import Foundation
import Synchronization
import Testing

@testable import PresenceStore

/// What gathers while one transaction is committed forms the next one.
@Suite struct GroupCommitTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()

    @Test func `many submissions make one commit, reported in order`() throws {
        let store = try Store.open(directory: directory.data, durability: .full)
        outcomes.hold()
        store.start(outcome: outcomes.report)
        store.submit([Submission(ticket: 900, write: put(0))])
        #expect(try outcomes.next() == [Outcome(ticket: 900, result: .committed)])
        for ticket in 1...50 {
            store.submit([
                Submission(write: put(1_000 + ticket)),
                Submission(ticket: StoreTicket(UInt64(ticket)), write: put(ticket)),
            ])
        }
        #expect(store.counters.pending == 101)
        outcomes.release()
        #expect(
            try outcomes.next()
                == (1...50).map { Outcome(ticket: StoreTicket($0), result: .committed) })
        #expect(store.stop().lostWrites == 0)
        #expect(store.counters.commits == 2)
        #expect(store.counters.rows == 202)
        #expect(store.counters.pending == 0)
        #expect(try Contents(of: directory.data).subscriptions.count == 202)
    }

    @Test func `outcomes come on a thread that top lists as store`() throws {
        let names = Mutex<[String]>([])
        let store = try Store.open(directory: directory.data, durability: .full)
        store.start { [outcomes] in
            names.withLock { $0.append(nameOfThread()) }
            outcomes.report($0)
        }
        _ = try store.write(put(1), into: outcomes)
        store.stop()
        #expect(names.withLock { $0 } == ["store"])
    }

    @Test func `lazy statuses wait for each other, and delay no other write`() throws {
        var tuning = StoreTuning()
        // For as long as the test may take: only what presses ends it.
        tuning.gatherMilliseconds = 600_000
        let store = try Store.open(directory: directory.data, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report)
        for number in 0..<20 {
            store.submit([
                Submission(write: .putStatus(StatusRow(account: name("s\(number)"), type: 1)))
            ])
        }
        for number in 0..<20 {
            store.submit([Submission(write: .updateSession(session(number)))])
        }
        store.submit([Submission(ticket: 1, write: put(1))])
        #expect(try outcomes.next() == [Outcome(ticket: 1, result: .committed)])
        #expect(store.counters.commits == 1)
        #expect(store.counters.rows == 42)
        store.submit([
            Submission(write: .putStatus(StatusRow(account: name("last"), type: 1)))
        ])
        #expect(store.stop().lostWrites == 0)
        let contents = try Contents(of: directory.data)
        #expect(contents.statuses.count == 21)
        #expect(contents.sessions.count == 20)
    }

    @Test func `sessions, and removals, do not wait for others`() {
        #expect(Submission(write: .updateSession(session(1))).canWait)
        #expect(!Submission(write: .putSession(session(1))).canWait)
        #expect(!Submission(ticket: 1, write: .updateSession(session(1))).canWait)
        #expect(!Submission(write: .removeStatus(account: name("s1"), type: 1)).canWait)
    }

    private func session(_ number: Int) -> SessionRow {
        SessionRow(account: name("s\(number)"), device: name("phone"))
    }

    @Test func `a transaction holds a bounded number of rows`() throws {
        var tuning = StoreTuning()
        tuning.transactionRowsMax = 5
        let store = try Store.open(directory: directory.data, durability: .full, tuning: tuning)
        store.start(outcome: outcomes.report)
        let big = Write.putSubscriptions(
            subscriber: name("big"), type: 1, publishers: names((0..<9).map(String.init)),
            created: 1, expires: 2)
        store.submit(
            [put(1), put(2), put(3), big, put(4)].enumerated().map {
                Submission(ticket: StoreTicket(UInt64($0)), write: $1)
            })
        let reports = try (0..<4).map { _ in try outcomes.next().map(\.ticket) }
        #expect(reports == [[0, 1], [2], [3], [4]])
        store.stop()
    }

    @Test func `a stop commits what was submitted before it`() throws {
        let store = try Store.open(directory: directory.data, durability: .full)
        store.start(outcome: outcomes.report)
        for subscriber in 0..<100 { store.writeLazily(put(subscriber)) }
        #expect(store.stop().lostWrites == 0)
        #expect(try Contents(of: directory.data).subscriptions.count == 200)
        #expect(
            try directory.contents().keys.sorted() == [
                "porchlight.lock", "porchlight.sqlite", "porchlight.sqlite-wal",
            ])
    }

    @Test func `relaxed durability stores too`() throws {
        let store = try Store.open(directory: directory.data, durability: .relaxed)
        store.start(outcome: outcomes.report)
        #expect(try store.write(put(1), into: outcomes) == [.committed])
        let image = try directory.crashImage()
        #expect(try Contents(of: image.data).subscriptions.count == 2)
        store.stop()
    }
}

/// The name of this thread that `top -H` and /proc show.
private func nameOfThread() -> String {
    let name = FileManager.default.contents(atPath: "/proc/thread-self/comm") ?? Data()
    return String(decoding: name, as: UTF8.self).trimmingCharacters(in: .newlines)
}
