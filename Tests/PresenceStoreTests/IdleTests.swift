import PresenceStore
import Testing

/// An idle store frees its page cache.
@Suite struct IdleTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()

    private func open(idleMilliseconds: Int) throws -> Store {
        var tuning = StoreTuning()
        tuning.idleMilliseconds = idleMilliseconds
        let store = try Store.open(
            directory: directory.data, durability: .relaxed, tuning: tuning)
        store.start(outcome: outcomes.report)
        return store
    }

    private func put(_ subscriber: Int) -> Write {
        .putSubscriptions(
            subscriber: name("s\(subscriber)"), type: 1,
            publishers: names((0..<100).map { "publisher-\($0)" }), created: 1, expires: 2)
    }

    @Test func `pages stay in memory while there are writes`() throws {
        let store = try open(idleMilliseconds: 600_000)
        for number in 0..<50 { _ = try store.write(put(number), into: outcomes) }
        #expect(store.counters.cacheBytes > 100_000)
        let fileBytes = store.counters.fileBytes
        #expect(fileBytes > 100_000)
        for number in 50..<300 { _ = try store.write(put(number), into: outcomes) }
        #expect(store.counters.fileBytes > 2 * fileBytes)
        store.stop()
    }

    @Test func `pages are freed when the store is idle, and read again for the next write`()
        throws
    {
        let store = try open(idleMilliseconds: 0)
        for number in 0..<50 { _ = try store.write(put(number), into: outcomes) }
        // Waits for the store's thread only.
        while store.counters.cacheBytes > 50_000 {}
        #expect(try store.write(put(50), into: outcomes) == [.committed])
        store.stop()
        #expect(try Contents(of: directory.data).subscriptions.count == 5_100)
    }
}
