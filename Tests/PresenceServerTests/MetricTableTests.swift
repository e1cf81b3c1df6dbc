import Containers
import Foundation
import PresenceCore
import PresenceStore
import PresenceWire
import Testing

@testable import PresenceServer

/// What `metrics`, `stats` and `top` show: programs of users depend on it.
@Suite struct `The table of metrics` {
    /// The lines that `metrics` writes, and nothing else.
    static func lines(_ measurements: Measurements) -> [String] {
        String(decoding: MetricTable.text(measurements), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    func value(of sample: String, in measurements: Measurements) -> String? {
        Self.lines(measurements).first { $0.hasPrefix(sample + " ") }
            .map { String($0.dropFirst(sample.count + 1)) }
    }

    // MARK: What is shown

    private func text(of path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `metrics are those of the list in Tests/Metrics`() throws {
        let list = try text(of: "Tests/Metrics/metrics.txt")
        // Metrics of other modules follow there.
        let expected = list.split(separator: "\n").map(String.init).prefix {
            !$0.hasPrefix("# HELP porchlight_log_")
        }
        var measurements = Measurements(loops: [LoopMeasurements()])
        measurements.host.configuration.version = ""
        var found = Self.lines(measurements).map { line in
            line.hasPrefix("#") ? line : line.replacing(#/ \S+$/#, with: "")
        }
        // The list has one line for all methods.
        let methods = MethodName.allCases.map { "porchlight_requests_total{method=\"\($0)\"}" }
        let start = try #require(found.firstIndex(of: methods[0]))
        try #require(Array(found[start...].prefix(methods.count)) == methods)
        found.replaceSubrange(
            start..<start + methods.count, with: [#"porchlight_requests_total{method="..."}"#])
        for (found, expected) in zip(found, expected) { try #require(found == expected) }
        #expect(found.count == expected.count)
    }

    @Test func `stats has these members, in this order`() {
        let names = MetricTable.stats(Measurements()).map(\.name)
        #expect(
            names.joined(separator: " ") == """
                accounts accountsOnline sessions sessionsConnected appServers subscriptions \
                statuses relationshipsActive relationshipsPending deadlines awaitingStore \
                deferred events deliveries eventsConflated \
                fanOuts expiries accountsForgotten subscriptionBytes nameBytes \
                messagesWaiting messageBytes messagesTaken connections \
                connectionsAccepted acceptFailures requests violations closedTooSlow \
                connectionsRejected loginsDelayed rejectedForMemory rejectedForStore throttled \
                tokensSubmitted tokensInVerification tokensOverLimit tokensRejected tokensExpired \
                addresses \
                feedReaders feedEvents feedBytes feedOldestSeconds feedLagSeconds feedResets \
                conflated fellBehind bytesBlocked bytesHeldBack outboxBytes poolBytesIdle \
                storePending storeRetained storeCommits storeRows storeFailures \
                storeLastCommitMicroseconds loopsStalled
                """)
    }

    @Test func `the page of the protocol explains each member of stats`() throws {
        let page = try text(of: "docs/PROTOCOL.md")
        let section = try #require(page.components(separatedBy: "\n### stats\n").last)
            .components(separatedBy: "\n### ")[0]
        let explained = section.matches(of: #/^\| `.*?\|/#.anchorsMatchLineEndings()).flatMap {
            $0.output.matches(of: #/`(\w+)`/#).map { String($0.output.1) }
        }
        #expect(Set(explained) == Set(StatsMember.allCases.map(\.rawValue)))
    }

    @Test func `top has these members, in this order`() {
        let counts = MetricTable.counts(Measurements())
        let names = MetricTable.growth(from: counts, to: counts).map(\.name)
        #expect(names == ["events", "deliveries", "logins", "requests", "commits", "rows"])
        let gauges = MetricTable.gauges(Measurements()).map(\.name)
        #expect(
            gauges.joined(separator: " ") == """
                connections accountsOnline sessionsConnected subscriptions statuses bytesBlocked \
                bytesHeldBack storePending storeRetained storeFailures \
                storeLastCommitMicroseconds memoryBytes subscriptionBytes nameBytes historyBytes \
                processorMicroseconds loopsStalled
                """)
    }

    // MARK: Values

    /// A service of two loops in which something is measured everywhere.
    static var measurements: Measurements {
        var loops = [LoopMeasurements(), LoopMeasurements()]
        for (place, number) in [(0, 1), (1, 20)] {
            loops[place].connections = number
            loops[place].counters.accepted = 2 * number
            loops[place].counters.tokensSubmitted = 3 * number
            loops[place].counters.requests = 4 * number
            for _ in 0..<number {
                loops[place].counters.endings.count(.lost)
                loops[place].counters.rejections.count(.shuttingDown)
                loops[place].times.lag.observe(microseconds: 30)
            }
        }
        var measurements = Measurements(loops: loops)
        measurements.host.counters.accepted = 300
        measurements.host.counters.rejections.count(.shuttingDown)
        measurements.host.engine.events = 7
        measurements.host.tokensInVerification = 21
        measurements.host.configuration.version = "1.2\"3"
        measurements.host.uptimeMilliseconds = 61_250
        measurements.process.processorMicroseconds = 1_500_000
        return measurements
    }

    @Test(arguments: [
        ("porchlight_connections", "21"), ("porchlight_connections_accepted_total", "342"),
        ("porchlight_closes_total{reason=\"lost\"}", "21"),
        ("porchlight_closes_total{reason=\"logout\"}", "0"),
        ("porchlight_rejections_total{reason=\"shutting_down\"}", "22"),
        ("porchlight_tokens_total", "42"), ("porchlight_tokens_waiting", "21"),
        ("porchlight_loop_lag_seconds_bucket{le=\"0.00005\"}", "21"),
        ("porchlight_loop_lag_seconds_sum", "0.00063"),
        ("porchlight_build_info{version=\"1.2\\\"3\"}", "1"),
        ("porchlight_uptime_seconds", "61.25"), ("process_cpu_seconds_total", "1.5"),
    ])
    func `what several halves measure is added up`(sample: String, expected: String) {
        #expect(value(of: sample, in: Self.measurements) == expected)
    }

    @Test func `three views show the same number`() {
        let stats = MetricTable.stats(Self.measurements)
        #expect(stats.contains(StatsField("connections", 21)))
        #expect(stats.contains(StatsField("tokensInVerification", 21)))
        let gauges = MetricTable.gauges(Self.measurements)
        #expect(gauges.contains(StatsField("connections", 21)))
        #expect(gauges.contains(StatsField("processorMicroseconds", 1_500_000)))
    }

    @Test func `top shows by how much counters have risen`() {
        var measurements = Self.measurements
        let before = MetricTable.counts(measurements)
        measurements.host.engine.events += 5
        measurements.loops[1].counters.requests += 6
        measurements.host.store.rows += 2
        let growth = MetricTable.growth(from: before, to: MetricTable.counts(measurements))
        #expect(growth.map(\.value) == [5, 0, 0, 6, 0, 2])
    }
}

@Suite struct `A tally` {
    @Test func `counts every word of a set apart`() {
        check(MethodName.self)
        check(Rejection.Reason.self)
        check(EnvelopeError.Reason.self)
        check(Ending.self)
    }

    private func check<Word: CaseIterable & Sendable>(_: Word.Type) {
        var tally = Tally<Word>()
        for (place, word) in Word.allCases.enumerated() {
            for _ in 0...place { tally.count(word) }
        }
        #expect(Word.allCases.map { tally[$0] } == Array(1...Word.allCases.count))
    }
}

@Suite struct `Rates of a minute` {
    private func sample(_ rates: Rates, at seconds: UInt64) -> (seconds: UInt64, events: Int) {
        let sample = rates.sample(
            before: Mono(milliseconds: seconds * 1_000), byMilliseconds: 60_000)
        return (sample.time.milliseconds / 1_000, sample.counts[0])
    }

    private func counts(events: Int) -> [Int] {
        var measurements = Measurements()
        measurements.host.engine.events = events
        return MetricTable.counts(measurements)
    }

    @Test func `count from the start, and later from a minute ago`() {
        var rates = Rates(begun: Mono(milliseconds: 0))
        #expect(sample(rates, at: 5) == (0, 0))
        for second in 1...200 as ClosedRange<UInt64> {
            let now = Mono(milliseconds: second * 1_000)
            #expect(rates.isDue(at: now))
            rates.note(counts(events: Int(second)), at: now)
            #expect(!rates.isDue(at: now))
        }
        #expect(sample(rates, at: 200) == (140, 140))
        // Nothing has happened since.
        #expect(sample(rates, at: 500) == (440, 200))
    }
}
