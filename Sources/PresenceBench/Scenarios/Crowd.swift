// The common part of scenarios with a large crowd: all clients are online in groups, one client is
// not in any group, and while the crowd reconnects no client may receive an event.

import EventLoop

/// A crowd of clients that must be able to reconnect without causing an event.
final class Crowd: LoadObserver {
    let load: Load
    let groups: Groups
    /// The time until the connection of each was established.
    private(set) var connects = Latencies()
    /// The time until the login list of each was complete.
    private(set) var arrivals = Latencies()
    /// Events that arrived although nothing has happened, by cause.
    private(set) var falseEvents: [ScannedCause: Int] = [:]
    private(set) var falseEventsOutside = 0
    /// Login lists that lacked accounts.
    private(set) var shortLists = 0
    private var firstShortList = ""
    private var began: UInt64 = 0
    private var before: LoadCounters

    /// The client that is in no group.
    var outsider: Int { groups.accounts }
    /// Clients of the crowd and the outsider.
    var clientCount: Int { groups.accounts + 1 }

    private static let watchedMax = 3_000

    init(_ load: Load, _ groups: Groups) {
        self.load = load
        self.groups = groups
        before = load.counters
    }

    /// Logs all clients in, subscribed to the others of the group.
    func gather() throws(BenchError) {
        load.loginList = .none
        try load.arrive(0..<groups.accounts)
        try load.subscribe(groups)
        try load.arrive(outsider..<outsider + 1)
        let watched = Array(watchedAccounts)
        let (outsider, names) = (outsider, load.names)
        try load.round("the outsider's subscriptions", of: outsider..<outsider + 1) { _, bytes in
            for start in stride(from: 0, to: watched.count, by: 100) {
                bytes.appendSubscribe(
                    to: watched[start..<min(start + 100, watched.count)], expirySeconds: 86_400,
                    names)
            }
            return (watched.count + 99) / 100
        }
        load.loginList = .online
        load.observer = self
    }

    /// Some accounts of each group.
    private var watchedAccounts: some Sequence<Int> {
        stride(
            from: 0, to: groups.accounts,
            by: max(1, (groups.accounts + Self.watchedMax - 1) / Self.watchedMax))
    }

    /// From now on all clients are expected to reconnect, and no event is expected.
    func begin() {
        load.lossPolicy = .reconnect
        load.connectingMax = .max
        arrivals.reset()
        connects.reset()
        before = load.counters
        began = load.loop.monotonicNanoseconds
    }

    /// Seconds since `begin`.
    var seconds: Double { load.seconds - Double(began) / 1e9 }

    func waitUntilAllAreBack(atMostSeconds: Double) throws(BenchError) {
        let (load, count) = (load, clientCount)
        try load.wait(for: "the return of all clients", atMostSeconds: atMostSeconds) {
            load.onlineCount >= count
        }
    }

    /// Fails if a client received an event that did not happen, or a list with gaps.
    func checkSilence() throws(BenchError) {
        let count = falseEvents.values.reduce(0, +)
        guard count == 0 else {
            let causes = falseEvents.map { "\($0.value) \($0.key)" }.sorted()
            throw BenchError(
                "\(count) events of clients that returned in time "
                    + "(\(causes.joined(separator: ", "))), \(falseEventsOutside) of them to a "
                    + "subscriber that was never away.")
        }
        guard shortLists == 0 else {
            throw BenchError(
                "\(shortLists) login lists lacked accounts, the first \(firstShortList).")
        }
    }

    /// Each group's first account publishes; fails if an event does not reach each subscriber once.
    func checkDelivery() throws(BenchError) {
        let stream = EventStream(load, groups, pace: .single)
        load.observer = stream
        try stream.publishOncePerGroup()
        load.observer = self
    }

    /// Adds the figures since `begin` to a report.
    func describe(in report: inout Report, _ prefix: String = "") {
        let now = load.counters
        report.add(prefix + "time until connected", connects)
        report.add(prefix + "time until list complete", arrivals)
        report.add(prefix + "attempts that failed", now.connectFailures - before.connectFailures)
        report.add(prefix + "attempts given up after 10 s", now.timeouts - before.timeouts)
        report.add(prefix + "logins rejected", now.rejections - before.rejections)
        for (code, count) in now.closes.sorted(by: { $0.key < $1.key }) {
            let new = count - before.closes[code, default: 0]
            if new > 0 { report.add(prefix + "closed by the service, \(code)", new) }
        }
        report.add(prefix + "states in lists", now.listedStates - before.listedStates)
    }

    // MARK: Observing

    func received(_ event: ScannedEvent, by client: Int, in body: RawSpan) {
        falseEvents[event.cause, default: 0] += 1
        if client == outsider { falseEventsOutside += 1 }
    }

    func connected(_ client: Int) {
        if began > 0 { connects.record(from: began, to: load.loop.monotonicNanoseconds) }
    }

    func arrived(_ client: Int, states: Int) {
        guard began > 0 else { return }
        arrivals.record(from: began, to: load.now)
        guard client < groups.accounts, states != groups.subscribers(of: client) else { return }
        shortLists += 1
        if firstShortList.isEmpty {
            firstShortList = "\(states) instead of \(groups.subscribers(of: client))"
        }
    }
}
