import Connections
import Containers
import PresenceCore
import PresenceStore
import PresenceWire

// Questions about the service itself: `stats`, `metrics`, `why` and `top`. They are about
// connections as much as about the engine, so every loop is asked for its part first.

extension EngineHost {
    /// Asks the loops for the question that has waited longest.
    mutating func askNextQuestion() {
        guard
            let (question, number) = questions.next(askedOf: loops.count, without: stalledLoops)
        else { return }
        let item = LoopItem.measure(loopQuestion(for: question.subject), question: number)
        output.appendToAll(item, omitting: stalledLoops)
    }

    private mutating func loopQuestion(for subject: Question.Subject) -> LoopQuestion {
        switch subject {
        case .stats, .metrics, .rates: .nothing
        case .why(let subscriber, let publisher, _):
            .bytesWaiting(
                engine.connections(of: subscriber) + engine.connections(of: publisher))
        case .top(let entriesMax): .slowest(countMax: entriesMax)
        }
    }

    /// A loop has measured what a question asks for. The last one has the question answered.
    mutating func measured(_ report: LoopReport, for number: UInt64, at now: Moment) {
        guard let complete = questions.add(report, for: number, without: stalledLoops) else {
            return
        }
        answer(complete.question, from: complete.reports, at: now)
    }

    /// Answers a question for which only stalled loops have not reported, with what they have
    /// reported last.
    mutating func answerWithoutStalledLoops(at now: Moment) {
        guard let complete = questions.endIfComplete(without: stalledLoops) else { return }
        answer(complete.question, from: complete.reports, at: now)
    }

    private mutating func answer(
        _ question: Question, from reports: [LoopReport], at now: Moment
    ) {
        let measurements = measure(reports, at: now)
        let answer: QuestionAnswer
        switch question.subject {
        case .rates: return rates.note(MetricTable.counts(measurements), at: now.mono)
        case .stats: answer = .stats(MetricTable.stats(measurements))
        case .metrics:
            answer = .metrics(
                MetricTable.text(measurements) + (configuration.furtherMetrics?() ?? []))
        case .why(let subscriber, let publisher, let type):
            let report = why(subscriber, publisher, type, reports, at: now)
            answer = .why(report, subscriber: subscriber, publisher: publisher)
        case .top(let entriesMax):
            answer = .top(top(entriesMax: entriesMax, measurements, reports, at: now))
        }
        guard let connection = question.connection else {
            preconditionFailure("an answer for no connection")
        }
        output.append(.answerQuestion(answer), for: connection)
    }

    /// Samples the counters whose growth `top` shows, once a second while anything happens.
    mutating func noteRates(at now: Mono) {
        guard rates.isDue(at: now), phase == .serving else { return }
        rates.begin()
        questions.append(Question(connection: nil, subject: .rates))
        askNextQuestion()
    }

    // MARK: why

    private mutating func why(
        _ subscriber: [UInt8], _ publisher: [UInt8], _ type: EventType, _ reports: [LoopReport],
        at now: Moment
    ) -> WhyReport {
        var report = engine.why(
            subscriber: subscriber, publisher: publisher, type, at: now,
            into: &output.shared.effects)
        fillIn(&report.subscriber, reports, at: now)
        fillIn(&report.publisher, reports, at: now)
        return report
    }

    /// Adds what only the connection loops know.
    private func fillIn(_ party: inout WhyParty, _ reports: [LoopReport], at now: Moment) {
        for index in party.sessions.indices {
            let entry = party.sessions[index].entry
            party.sessions[index].entry.lastHeard = lastHeard(of: entry, at: now)
            guard let connection = entry.connectionID, !connection.isInProcess else { continue }
            let loop = loops.loop(of: connection.slot)
            party.sessions[index].bytesWaiting =
                stalledLoops.contains(loop) ? nil : reports[loop].bytesWaiting[connection] ?? 0
        }
    }

    // MARK: top

    /// Over how many milliseconds `top` counts.
    private static var topMilliseconds: UInt64 { 60_000 }

    private mutating func top(
        entriesMax: Int, _ measurements: Measurements, _ reports: [LoopReport], at now: Moment
    ) -> TopReport {
        let before = rates.sample(before: now.mono, byMilliseconds: Self.topMilliseconds)
        let since = now.wall(at: before.time)
        let known = max(since, engine.eventsKnownSince)
        return TopReport(
            time: now.wall,
            milliseconds: Int(now.mono.milliseconds - before.time.milliseconds),
            counts: MetricTable.growth(
                from: before.counts, to: MetricTable.counts(measurements)),
            publishersSince: known,
            publishers: engine.busiestPublishers(
                since: known, countMax: entriesMax, into: &output.shared.effects),
            senders: engine.greatestSenders(
                countMax: entriesMax, into: &output.shared.effects),
            boxes: engine.fullestBoxes(countMax: entriesMax, into: &output.shared.effects),
            readers: slowestReaders(countMax: entriesMax, reports, at: now),
            readerCount: measurements.sum(\.table.slowReaders),
            gauges: MetricTable.gauges(measurements))
    }

    private mutating func slowestReaders(
        countMax: Int, _ reports: [LoopReport], at now: Moment
    ) -> [PresenceWire.SlowReader] {
        let slowest = reports.flatMap(\.slowest)
            .map { (slow: $0, behind: engine.topicsMissed(by: $0.connection)) }
            .greatest(countMax) {
                ($0.behind, $0.slow.reader.bytesWaiting) < ($1.behind, $1.slow.reader.bytesWaiting)
            }
        return slowest.map { slow, behind in
            SlowReader(
                owner: engine.owner(of: slow.connection, into: &output.shared.effects),
                address: slow.address, bytesWaiting: slow.reader.bytesWaiting, behind: behind,
                since: now.wall(at: slow.reader.since))
        }
    }

    // MARK: Measurements

    private func measure(_ reports: [LoopReport], at now: Moment) -> Measurements {
        Measurements(
            loops: reports.map(\.measured), host: measureHost(at: now),
            process: ProcessMeasurements(resources, configuration.admission))
    }

    private func measureHost(at now: Moment) -> HostMeasurements {
        var measured = HostMeasurements()
        measured.configuration = configuration
        measured.counters = counters
        tokens.add(to: &measured.counters)
        measured.counters.memoryReturns = memory.returnCount
        measured.tokensInVerification = tokens.inProgress
        measured.passwords = passwords
        measured.cards = cards
        measured.engine = engine.currentStats
        measured.tallies = engine.tallies
        measured.messages = engine.messages
        measured.undeliveredReaders = undelivered.readers.count
        measured.devices = engine.deviceCount
        measured.undeliveredBehind =
            undelivered.readers.map(\.number).min().map { engine.undeliveredCount(after: $0) } ?? 0
        measured.historyBytes = engine.historyBytes
        measured.feed = measureFeed(at: now.mono)
        measured.store = store.counters
        measured.commitTimes = store.commitTimes
        measured.stalledLoops = stalledLoops.count
        measured.processorMicroseconds = Int(clamping: resources.threadMicroseconds)
        measured.startMilliseconds = begun.wall.milliseconds
        measured.uptimeMilliseconds = now.mono.milliseconds - begun.mono.milliseconds
        return measured
    }

    private func measureFeed(at now: Mono) -> FeedMeasurements {
        var measured = FeedMeasurements()
        guard let feed else { return measured }
        measured.readers = feed.readers.count
        measured.events = feed.log.count
        measured.bytes = feed.log.bytes
        measured.oldestSeconds = feed.oldestSeconds(at: now)
        measured.lagSeconds = feed.lagSeconds(at: now)
        return measured
    }
}
