// The metrics of the service: one table, of which `metrics`, `stats` and `top` are views.
//
// Names begin with `porchlight_`, except those of the process, which have the names that every
// Prometheus client library uses. Units are seconds and bytes. Label values come from closed
// sets: no account names, addresses or other values that a client can choose.

import PresenceWire
import PrometheusText

/// The table of metrics, in the order in which `metrics` writes them.
enum MetricTable {
    static let metrics: [Metric] =
        connections + tls + xmpp + requests + presence + messages + delivery + feed + store
        + process

    // MARK: metrics

    /// All metrics in the Prometheus text format.
    static func text(_ measurements: Measurements) -> [UInt8] {
        var text = MetricsText()
        for metric in metrics { text.add(metric, measurements) }
        return text.bytes
    }

    // MARK: stats

    private static let statsValues = StatsMember.allCases.map { member in
        only("\(member) of stats") { $0.stats == member }
    }

    /// The members of the response to `stats`.
    static func stats(_ measurements: Measurements) -> [StatsField] {
        zip(StatsMember.allCases, statsValues).map { member, value in
            StatsField(member.rawValue, value.read(measurements))
        }
    }

    // MARK: top

    private static let gaugeValues = TopMember.Gauge.allCases.map { gauge in
        only("\(gauge) of top") { $0.top == .gauge(gauge) }
    }
    private static let countValues = TopMember.Count.allCases.map { count in
        only("\(count) of top") { $0.top == .count(count) }
    }

    /// The members of `gauges` in the response to `top`.
    static func gauges(_ measurements: Measurements) -> [StatsField] {
        zip(TopMember.Gauge.allCases, gaugeValues).map { gauge, value in
            StatsField(gauge.rawValue, value.read(measurements))
        }
    }

    /// The counters whose growth `top` shows in `counts`.
    static func counts(_ measurements: Measurements) -> [Int] {
        countValues.map { $0.read(measurements) }
    }

    /// The members of `counts` in the response to `top`: the growth of the counters.
    static func growth(from before: [Int], to now: [Int]) -> [StatsField] {
        zip(TopMember.Count.allCases, zip(before, now)).map { count, values in
            StatsField(count.rawValue, values.1 - values.0)
        }
    }

    /// The only value of the table that is meant.
    private static func only(_ name: String, _ isMeant: (Metric.Value) -> Bool) -> Metric.Value {
        let found = metrics.flatMap(\.values).filter(isMeant)
        precondition(found.count == 1, "the table has \(found.count) values for \(name)")
        return found[0]
    }
}

extension MetricsText {
    fileprivate mutating func add(_ metric: Metric, _ measurements: Measurements) {
        guard let heading = metric.heading else { return }
        if case .histogram(let read) = metric.content {
            return add(histogram: heading.name, heading.help, read(measurements))
        }
        begin(heading.kind, heading.name, heading.help)
        switch metric.content {
        case .value(let value, .one):
            sample(value.read(measurements))
        case .value(let value, .microseconds):
            sample(microseconds: UInt64(clamping: value.read(measurements)))
        case .values(let values, let label):
            for value in values {
                sample(value.read(measurements), Label(label, value.label))
            }
        case .ofLoops(let read, let unit):
            for (index, loop) in measurements.loops.enumerated() {
                let label = Label("loop", "\(index)")
                switch unit {
                case .one: sample(read(loop), label)
                case .microseconds: sample(microseconds: UInt64(clamping: read(loop)), label)
                }
            }
        case .information(let label, let read):
            sample(1, Label(label, read(measurements)))
        case .histogram:
            break
        }
    }
}
