import EventLoop

extension Load {
    /// Sends what `build` makes for each client, at most `outstandingMax` unanswered requests at
    /// a time, and waits until all are answered.
    ///
    /// `build` says how many requests it has appended.
    func round(
        _ what: String, of range: Range<Int>, outstandingMax: Int = 512,
        atMostSeconds: Double = 600,
        _ build: @escaping (Int, inout [UInt8]) -> Int
    ) throws(BenchError) {
        var next = range.lowerBound
        try wait(for: what, atMostSeconds: atMostSeconds) { [unowned self] in
            while next < range.upperBound, counters.requestsOutstanding < outstandingMax {
                scratch.removeAll(keepingCapacity: true)
                let count = build(next, &scratch)
                if count > 0 { request(scratch, by: next, count: count) }
                next += 1
            }
            return next == range.upperBound && counters.requestsOutstanding == 0
        }
    }

    /// Has clients log in and waits until all are where they want to be.
    func arrive(_ range: Range<Int>, atMostSeconds: Double = 300) throws(BenchError) {
        let wanted =
            onlineCount
            + range.filter { $0 >= clients.count || clients[$0].phase != .online }
            .count
        bring(range)
        try wait(for: "logins", atMostSeconds: atMostSeconds) { [unowned self] in
            onlineCount >= wanted
        }
    }

    /// Has all clients subscribe to the others of the group.
    func subscribe(_ groups: Groups, expirySeconds: Int = 86_400) throws(BenchError) {
        let names = names
        try round("subscriptions", of: 0..<groups.accounts) { account, bytes in
            let count = groups.requests(of: account)
            for chunk in 0..<count {
                bytes.appendSubscribe(
                    to: groups.others(of: account, chunk: chunk), expirySeconds: expirySeconds,
                    names)
            }
            return count
        }
    }
}
