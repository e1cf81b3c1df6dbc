import Containers
import PrometheusText

/// A row of the table of metrics: how to read it from the measurements, and where it is shown.
struct Metric: Sendable {
    typealias Reading<Result> = @Sendable (Measurements) -> Result

    /// How `metrics` shows it; nil: it is in `stats` or `top` only.
    let heading: Heading?
    let content: Content

    struct Heading: Sendable {
        let kind: MetricsText.Kind
        let name: StaticString
        let help: StaticString
    }

    enum Content: Sendable {
        /// One value; `metrics` writes it in the unit.
        case value(Value, in: Unit)
        /// Values by the value of a label.
        case values([Value], by: StaticString)
        /// Values by the index of the loop.
        case ofLoops(@Sendable (LoopMeasurements) -> Int, in: Unit)
        case histogram(Reading<DurationHistogram>)
        /// Always 1; the label has the information.
        case information(label: StaticString, Reading<String>)
    }

    /// The unit of a value.
    enum Unit: Sendable {
        /// A number of something, bytes or seconds; written as it is.
        case one
        /// Written in seconds.
        case microseconds
    }

    /// A number, and where else than in `metrics` it is shown.
    struct Value: Sendable {
        /// The value of the label, in a metric that has one.
        let label: String
        let stats: StatsMember?
        let top: TopMember?
        let read: Reading<Int>

        init(
            _ label: String = "", stats: StatsMember? = nil, top: TopMember? = nil,
            _ read: @escaping Reading<Int>
        ) {
            self.label = label
            self.stats = stats
            self.top = top
            self.read = read
        }

        /// A value for each word of a closed set.
        static func each<Word: Sendable>(
            _ words: some Sequence<Word>, _ label: (Word) -> String,
            _ read: @escaping @Sendable (Measurements, Word) -> Int
        ) -> [Value] {
            words.map { word in Value(label(word)) { read($0, word) } }
        }
    }

    /// All its numbers.
    var values: [Value] {
        switch content {
        case .value(let value, _): [value]
        case .values(let values, _): values
        case .ofLoops, .histogram, .information: []
        }
    }
}

extension Metric {
    /// A metric of one value.
    init(
        _ kind: MetricsText.Kind, _ name: StaticString, _ help: StaticString,
        in unit: Unit = .one, stats: StatsMember? = nil, top: TopMember? = nil,
        _ read: @escaping Reading<Int>
    ) {
        heading = Heading(kind: kind, name: name, help: help)
        content = .value(Value(stats: stats, top: top, read), in: unit)
    }

    /// A metric with a label.
    init(
        _ kind: MetricsText.Kind, _ name: StaticString, _ help: StaticString,
        by label: StaticString, _ values: [Value]
    ) {
        heading = Heading(kind: kind, name: name, help: help)
        content = .values(values, by: label)
    }

    /// A metric of each connection loop, by its index.
    init(
        ofLoops kind: MetricsText.Kind, _ name: StaticString, _ help: StaticString,
        in unit: Unit = .one, _ read: @escaping @Sendable (LoopMeasurements) -> Int
    ) {
        heading = Heading(kind: kind, name: name, help: help)
        content = .ofLoops(read, in: unit)
    }

    /// A histogram.
    init(
        histogram name: StaticString, _ help: StaticString,
        _ read: @escaping Reading<DurationHistogram>
    ) {
        heading = Heading(kind: .histogram, name: name, help: help)
        content = .histogram(read)
    }

    /// A metric whose information is in its label.
    init(
        information name: StaticString, _ help: StaticString, label: StaticString,
        _ read: @escaping Reading<String>
    ) {
        heading = Heading(kind: .gauge, name: name, help: help)
        content = .information(label: label, read)
    }

    /// A value that only `stats` or `top` show.
    init(stats: StatsMember, top: TopMember? = nil, _ read: @escaping Reading<Int>) {
        heading = nil
        content = .value(Value(stats: stats, top: top, read), in: .one)
    }
}
