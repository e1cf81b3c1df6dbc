import Outboxes
import PresenceCore
import PresenceStore

// Fills in the measurements that `stats`, `top` and `metrics` show.

extension Reactor {
    /// Measures everything. The cost is proportional to the outboxes that this turn has to write.
    func measure(at now: Moment) -> Measurements {
        Measurements(
            loops: [measureConnections()], host: measureHost(at: now),
            process: ProcessMeasurements(loop))
    }

    private func measureConnections() -> LoopMeasurements {
        var measured = LoopMeasurements()
        measured.counters = counters
        measured.connections = loop.streamCount
        measured.addresses = addresses.count
        measured.slowReaders = slow.count
        measured.inquiriesUnderWay = inquiriesUnderWay
        measured.outboxBytes = outboxBytes(\.count)
        measured.ownOutboxBytes = outboxBytes(\.bytes.count)
        measured.poolBytesIdle = pool.bytesIdle
        measured.sharedFrameBytes = frames.heapBytes
        measured.bytesBlocked = bytesBlocked
        measured.bytesHeldBack = bytesHeldBack
        measured.lag = loopTimes.lag
        measured.turns = loopTimes.turns
        return measured
    }

    /// Bytes in outboxes: those that this turn will write, and those behind a blocked write.
    private func outboxBytes(_ count: (Outbox) -> Int) -> Int {
        dirty.reduce(bytesHeldBack) { sum, slot in
            // After a drain, the rest of an outbox counts as held back until it is written.
            let bytes = count(connections[Int(slot)].outbox)
            return sum + bytes - connections[Int(slot)].bytesHeldBack
        }
    }

    private func measureHost(at now: Moment) -> HostMeasurements {
        var measured = HostMeasurements()
        measured.engine = engine.currentStats
        measured.tallies = engine.tallies
        measured.historyBytes = engine.historyBytes
        measured.feed = measureFeed(at: now.mono)
        measured.store = store.counters
        measured.commitTimes = store.commitTimes
        measured.connectionsMax = configuration.admission.connectionsMax
        measured.version = configuration.version
        measured.startMilliseconds = begun.wall.milliseconds
        measured.uptimeMilliseconds = now.mono.milliseconds - begun.mono.milliseconds
        return measured
    }

    private func measureFeed(at now: Mono) -> FeedMeasurements {
        var measured = FeedMeasurements()
        measured.bytesMax = configuration.feed.feedBytesMax
        guard let feed else { return measured }
        measured.readers = feed.readers.count
        measured.events = feed.log.count
        measured.bytes = feed.log.bytes
        measured.oldestSeconds = feedOldestSeconds(at: now)
        measured.lagSeconds = feedLagSeconds(at: now)
        return measured
    }

    /// Samples the counters whose growth `top` shows, once a second while anything happens.
    mutating func noteRates(at now: Moment) {
        guard rates.isDue(at: now.mono) else { return }
        rates.note(MetricTable.counts(measure(at: now)), at: now.mono)
    }
}
