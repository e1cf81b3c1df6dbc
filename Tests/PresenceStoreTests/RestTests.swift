import PresenceStore
import Testing

/// A store that has nothing to do gives back what it needed while it had.
@Suite struct RestTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()

    private func open(restMilliseconds: Int) throws -> Store {
        var tuning = StoreTuning()
        tuning.restMilliseconds = restMilliseconds
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

    @Test func `pages stay in memory while there is something to write`() throws {
        let store = try open(restMilliseconds: 600_000)
        for number in 0..<50 { _ = try store.write(put(number), into: outcomes) }
        #expect(store.counters.cacheBytes > 100_000)
        store.stop()
    }

    @Test func `pages are forgotten when nothing comes, and read again when something does`()
        throws
    {
        let store = try open(restMilliseconds: 0)
        for number in 0..<50 { _ = try store.write(put(number), into: outcomes) }
        // It is the store's thread that has to get so far: nothing else is waited for.
        while store.counters.cacheBytes > 50_000 {}
        #expect(try store.write(put(50), into: outcomes) == [.committed])
        store.stop()
        #expect(try Contents(of: directory.data).subscriptions.count == 5_100)
    }
}
