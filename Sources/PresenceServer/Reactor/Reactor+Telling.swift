import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceStore
import PresenceWire

// Questions about the service itself: `metrics`, `why` and `top`. They are about connections as
// much as about the engine, so they are answered here.
//
// Each goes through all that there is to tell of, a millisecond or two. So one is answered at
// the end of a turn, and the others wait in a queue: however many app servers ask, clients wait
// for one answer at most. Its connection waits meanwhile as one does that waits for the store.

/// A question about the service, which waits for its turn.
struct Question {
    var connection: StreamID
    var subject: Subject

    enum Subject {
        case metrics
        case why(subscriber: [UInt8], publisher: [UInt8], EventType)
        case top(entriesMax: Int)
    }
}

extension Reactor {
    /// What of a request is a question about the service; nil: it is none.
    func question(in method: Method) -> Question.Subject? {
        switch method {
        case .metrics: .metrics
        case .why(let request):
            .why(
                subscriber: decoder.bytes(request.subscriber),
                publisher: decoder.bytes(request.publisher), request.type)
        case .top(let request): .top(entriesMax: request.entriesMax)
        default: nil
        }
    }

    /// Has a question answered at the end of a turn.
    mutating func ask(_ subject: Question.Subject, of slot: Int) {
        questions.append(Question(connection: connections[slot].id, subject: subject))
    }

    /// Answers the question that has waited longest, of those whose connections are still there.
    mutating func answerNextQuestion(at now: Moment) {
        while !questions.isEmpty {
            let question = questions.removeFirst()
            guard let slot = slot(of: question.connection), let id = connections[slot].awaiting
            else { continue }
            return answer(question.subject, to: id, of: slot, at: now)
        }
    }

    private mutating func answer(
        _ subject: Question.Subject, to id: RequestID, of slot: Int, at now: Moment
    ) {
        precondition(effects.items.isEmpty, "a question between effects")
        pool.lend(to: &connections[slot].outbox)
        switch subject {
        case .metrics:
            let text = MetricTable.text(measure(at: now)) + (configuration.furtherMetrics?() ?? [])
            connections[slot].outbox.bytes.appendTextFrame(text, to: id)
        case .why(let subscriber, let publisher, let type):
            let report = why(subscriber, publisher, type, at: now)
            connections[slot].outbox.bytes.appendWhyFrame(
                report, subscriber: subscriber, publisher: publisher, to: id, in: effects)
        case .top(let entriesMax):
            let report = top(entriesMax: entriesMax, at: now)
            connections[slot].outbox.bytes.appendTopFrame(report, to: id, in: effects)
        }
        effects.removeAll()
        settle(slot)
    }

    // MARK: why

    private mutating func why(
        _ subscriber: [UInt8], _ publisher: [UInt8], _ type: EventType, at now: Moment
    ) -> WhyReport {
        var report = engine.why(
            WhyQuestion(
                subscriber: engine.find(subscriber.span), publisher: engine.find(publisher.span),
                publisherName: publisher, type: type),
            at: now, into: &effects)
        fillIn(&report.subscriber, at: now)
        fillIn(&report.publisher, at: now)
        return report
    }

    /// Adds what only the owner of the connections knows.
    private func fillIn(_ party: inout WhyParty, at now: Moment) {
        for index in party.sessions.indices {
            party.sessions[index].entry.lastHeard = lastHeard(
                of: party.sessions[index].entry, at: now)
            guard let connection = party.sessions[index].entry.connectionID,
                let slot = slot(of: connection)
            else { continue }
            party.sessions[index].bytesWaiting = bytesWaiting(for: slot)
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

    private mutating func top(entriesMax: Int, at now: Moment) -> TopReport {
        let before = rates.sample(before: now.mono, byMilliseconds: Self.topMilliseconds)
        let measurements = measure(at: now)
        let since = now.wall(at: before.time)
        let known = max(since, engine.eventsKnownSince)
        return TopReport(
            time: now.wall,
            milliseconds: Int(now.mono.milliseconds - before.time.milliseconds),
            counts: MetricTable.growth(
                from: before.counts, to: MetricTable.counts(measurements)),
            publishersSince: known,
            publishers: engine.busiestPublishers(
                since: known, countMax: entriesMax, into: &effects),
            readers: slowestReaders(countMax: entriesMax, at: now),
            readerCount: slow.count, gauges: MetricTable.gauges(measurements))
    }

    /// Those that have the most to take yet, of the first ten thousand that have anything.
    private mutating func slowestReaders(countMax: Int, at now: Moment) -> [SlowReader] {
        let slowest = slow.prefix(10_000).map { reader in
            (
                slot: Int(reader.slot), behind: behind(Int(reader.slot)),
                bytes: bytesWaiting(for: Int(reader.slot)), since: reader.since
            )
        }.greatest(countMax) { ($0.behind, $0.bytes) < ($1.behind, $1.bytes) }
        return slowest.map { slot, behind, bytes, since in
            SlowReader(
                owner: engine.owner(of: ConnectionID(connections[slot].id), into: &effects),
                address: loop.peerAddress(of: connections[slot].id) ?? "",
                bytesWaiting: bytes, behind: behind, since: now.wall(at: since))
        }
    }

    private func behind(_ slot: Int) -> Int {
        guard connections[slot].state.contains(.isConflated) else { return 0 }
        return engine.topicsMissed(by: ConnectionID(connections[slot].id))
    }
}
