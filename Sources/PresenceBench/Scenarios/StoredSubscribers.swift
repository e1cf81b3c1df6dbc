import EventLoop

/// Subscriptions of accounts that are not online, made through app servers' connections.
struct StoredSubscribers {
    /// The clients that are app servers; each waits for the store with one request at a time.
    let appServers: Range<Int>
    /// The first of the accounts that subscribe.
    let firstSubscriber: Int

    /// Has `subscribers` accounts subscribe to what `publishers` names for each, 100 at most.
    func subscribe(
        _ load: Load, subscribers: Int, to publishers: @escaping (Int) -> [Int]
    ) throws(BenchError) {
        guard subscribers > 0 else { return }
        guard firstSubscriber + subscribers <= Names.accountsMax else {
            throw BenchError("A run has at most \(Names.accountsMax) accounts.")
        }
        load.grow(to: appServers.upperBound)
        for client in appServers { load.clients[client].role = .appServer }
        try load.arrive(appServers)
        var next = 0
        let outstandingMax = appServers.count * 4
        try load.wait(for: "stored subscriptions", atMostSeconds: 900) {
            while next < subscribers, load.counters.requestsOutstanding < outstandingMax {
                var bytes: [UInt8] = []
                bytes.appendSubscribe(
                    to: publishers(next), acting: firstSubscriber + next, expirySeconds: 86_400,
                    load.names)
                load.request(bytes, by: appServers.lowerBound + next % appServers.count)
                next += 1
            }
            return next == subscribers && load.counters.requestsOutstanding == 0
        }
        load.drop(appServers, .close)
    }
}
