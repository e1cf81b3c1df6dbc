import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceStore
import PresenceWire

// Questions about the service itself: `metrics`, `why` and `top`. They are about connections as
// much as about the engine, so they are answered here, at once. So is `feed`, see `Reactor+Feed`.

extension Reactor {
    /// Answers a question about the service; whether it is one.
    mutating func answerAtOnce(_ method: Method, of slot: Int, at now: Moment) throws(Refusal)
        -> Bool
    {
        switch method {
        case .metrics, .why, .top, .feed: break
        default: return false
        }
        if let refusal = engine.refusal(
            of: method.kind, from: ConnectionID(connections[slot].id))
        {
            throw refusal
        }
        guard let id = connections[slot].awaiting else { return true }
        if case .feed(let cursor) = method {
            try readFeed(from: cursor, in: slot, for: id, at: now)
            return true
        }
        // Each goes through all that there is to tell of: a millisecond, at worst.
        turnWorkLeft -= 127
        pool.lend(to: &connections[slot].outbox)
        switch method {
        case .metrics:
            connections[slot].outbox.bytes.appendTextFrame(metricsText(at: now), to: id)
        case .why(let request):
            let report = why(request, at: now)
            connections[slot].outbox.bytes.appendWhyFrame(
                report, subscriber: decoder.bytes(request.subscriber),
                publisher: decoder.bytes(request.publisher), to: id, in: effects)
        case .top(let request):
            let report = top(request, at: now)
            connections[slot].outbox.bytes.appendTopFrame(report, to: id, in: effects)
        default:
            preconditionFailure("a question that is none")
        }
        effects.removeAll()
        settle(slot)
        return true
    }

    // MARK: why

    private mutating func why(_ request: WhyRequest, at now: Moment) -> WhyReport {
        var report = engine.why(
            WhyQuestion(
                subscriber: decoder.withBytes(request.subscriber) { engine.find($0) },
                publisher: decoder.withBytes(request.publisher) { engine.find($0) },
                publisherName: decoder.bytes(request.publisher), type: request.type),
            at: now, into: &effects)
        fillIn(&report.subscriber)
        fillIn(&report.publisher)
        return report
    }

    /// Adds what only the owner of the connections knows.
    private func fillIn(_ party: inout WhyParty) {
        for index in party.sessions.indices {
            guard let connection = party.sessions[index].connection, let slot = slot(of: connection)
            else { continue }
            party.sessions[index].bytesWaiting = bytesWaiting(for: slot)
            party.sessions[index].behind = connections[slot].behind.count
        }
    }

    private func bytesWaiting(for slot: Int) -> Int {
        let isBlocked = connections[slot].state.contains(.isBlocked)
        let pending = isBlocked ? loop.bytesPending(connections[slot].id) : 0
        return pending + connections[slot].outbox.count
    }

    // MARK: top

    /// Over how many milliseconds `top` counts.
    private static var topMilliseconds: UInt64 { 60_000 }

    private mutating func top(_ request: TopRequest, at now: Moment) -> TopReport {
        let before = rates.sample(before: now.mono, byMilliseconds: Self.topMilliseconds)
        let current = sums
        let since = now.wall(at: before.time)
        let known = max(since, engine.eventsKnownSince)
        return TopReport(
            time: now.wall,
            milliseconds: Int(now.mono.milliseconds - before.time.milliseconds),
            counts: [
                StatsField("events", current.events - before.sums.events),
                StatsField("deliveries", current.deliveries - before.sums.deliveries),
                StatsField("logins", current.logins - before.sums.logins),
                StatsField("requests", current.requests - before.sums.requests),
                StatsField("commits", current.commits - before.sums.commits),
                StatsField("rows", current.rows - before.sums.rows),
            ],
            publishersSince: known,
            publishers: engine.busiestPublishers(
                since: known, countMax: request.entriesMax, into: &effects),
            readers: slowestReaders(countMax: request.entriesMax, at: now),
            readerCount: slow.count, gauges: gauges)
    }

    /// Those that have the most to take yet, of the first ten thousand that have anything.
    private mutating func slowestReaders(countMax: Int, at now: Moment) -> [SlowReader] {
        let waiting = slow.prefix(10_000)
            .map { (slot: Int($0.slot), bytes: bytesWaiting(for: Int($0.slot)), since: $0.since) }
            .sorted { first, second in
                let topics = (connections[first.slot].behind, connections[second.slot].behind)
                return (topics.0.count, first.bytes, second.slot)
                    > (topics.1.count, second.bytes, first.slot)
            }
        return waiting.prefix(countMax).map { slot, bytes, since in
            SlowReader(
                owner: engine.owner(of: ConnectionID(connections[slot].id), into: &effects),
                address: loop.peerAddress(of: connections[slot].id) ?? "",
                bytesWaiting: bytes, behind: connections[slot].behind.count,
                since: now.wall(at: since))
        }
    }

    private var gauges: [StatsField] {
        let stats = engine.currentStats
        let store = store.counters
        return [
            StatsField("connections", loop.streamCount),
            StatsField("accountsOnline", stats.accountsOnline),
            StatsField("sessionsConnected", stats.sessionsConnected),
            StatsField("subscriptions", stats.subscriptions),
            StatsField("statuses", stats.statuses),
            StatsField("bytesBlocked", bytesBlocked),
            StatsField("bytesHeldBack", bytesHeldBack),
            StatsField("storePending", store.pending),
            StatsField("storeRetained", store.retained),
            StatsField("storeFailures", store.failures),
            StatsField("storeLastCommitMicroseconds", store.lastCommitMicroseconds),
            StatsField("memoryBytes", Int(clamping: loop.memoryBytes)),
            StatsField("subscriptionBytes", stats.subscriptionBytes),
            StatsField("nameBytes", stats.nameBytes),
            StatsField("historyBytes", engine.historyBytes),
            StatsField("processorMicroseconds", Int(clamping: loop.processorMicroseconds)),
        ]
    }

    // MARK: Rates

    private var sums: RateSums {
        let stats = engine.currentStats
        let store = store.counters
        return RateSums(
            events: stats.events, deliveries: stats.deliveries, logins: counters.loginsOfClients,
            requests: counters.requests, commits: store.commits, rows: store.rows)
    }

    /// Remembers the counters once a second, while anything happens at all.
    mutating func noteRates(at now: Mono) {
        guard rates.isDue(at: now) else { return }
        rates.note(sums, at: now)
    }
}
