import Containers
import EventLoop
import Outboxes
import PresenceCore

// The loop's part of answers about the service.

extension ConnectionLoop where Link: ~Copyable {
    /// Measures everything. The cost is proportional to the outboxes that are to be written.
    func report(_ question: LoopQuestion) -> LoopReport {
        var report = LoopReport(loop: number.index, measured: measure())
        switch question {
        case .nothing: break
        case .bytesWaiting(let connections):
            for connection in connections {
                guard let slot = slot(of: connection), number.has(connection) else { continue }
                report.bytesWaiting[connection] = bytesWaiting(for: slot)
            }
        case .slowest(let countMax): report.slowest = slowest(countMax: countMax)
        }
        return report
    }

    private func measure() -> LoopMeasurements {
        var measured = LoopMeasurements()
        measured.counters = counters
        measured.connections = loop.streamCount
        measured.addresses = addressCount
        measured.xmppConnections = xmpp?.count ?? 0
        measured.slowReaders = slow.count
        measured.outboxBytes = outboxBytes(\.count)
        measured.ownOutboxBytes = outboxBytes(\.bytes.count)
        measured.poolBytesIdle = pool.bytesIdle
        measured.sharedFrameBytes = frames.heapBytes
        measured.bytesBlocked = bytesBlocked
        measured.bytesHeldBack = bytesHeldBack
        measured.deadlines = deadlines.count
        measured.lag = loopTimes.lag
        measured.turns = loopTimes.turns
        measured.tls = loop.tlsCounters
        measured.tlsExpiresSeconds = loop.tlsExpiresSeconds
        measured.processorMicroseconds = Int(clamping: loop.threadMicroseconds)
        return measured
    }

    /// Bytes in outboxes: those that are to be written, and those behind a blocked write.
    private func outboxBytes(_ count: (Outbox) -> Int) -> Int {
        dirty.waiting.reduce(bytesHeldBack) { sum, slot in
            // After a drain, the rest of an outbox counts as held back until it is written.
            let bytes = count(connections[Int(slot)].output.outbox)
            return sum + bytes - connections[Int(slot)].output.bytesHeldBack
        }
    }

    private func bytesWaiting(for slot: Int) -> Int {
        let isBlocked = connections[slot].output.isBlocked
        let pending = isBlocked ? loop.bytesPending(connections[slot].id) : 0
        return pending + connections[slot].output.outbox.count
    }

    /// Those that have the most to read yet, of the first ten thousand that have anything.
    private func slowest(countMax: Int) -> [SlowConnectionReport] {
        slow.prefix(10_000).map { reader in
            let slot = Int(reader.slot)
            return SlowConnectionReport(
                connection: connectionID(slot),
                address: loop.peerAddress(of: connections[slot].id) ?? "",
                bytesWaiting: bytesWaiting(for: slot), since: reader.since,
                isConflated: connections[slot].pulling.isConflated)
        }.greatest(countMax) { first, second in
            first.isConflated == second.isConflated
                ? first.bytesWaiting < second.bytesWaiting : second.isConflated
        }
    }
}
