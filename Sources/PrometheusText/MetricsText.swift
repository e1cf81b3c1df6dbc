/// Writes metrics in the Prometheus text format, one after the other, each with its samples.
///
/// Names, help texts and names of labels are literals that need no escapes; values of labels are
/// escaped.
/// https://prometheus.io/docs/instrumenting/exposition_formats/
public struct MetricsText: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []
    /// The metric whose samples are being written; nil before the first.
    private var name: StaticString?

    /// The type of a metric.
    public enum Kind: String, Sendable {
        /// It only rises, and is 0 after a restart.
        case counter
        /// A current value.
        case gauge
        /// Counts by bucket, and their sum.
        case histogram
    }

    /// A label of a sample.
    public struct Label: Sendable {
        let name: StaticString
        let value: String

        /// A label with any value.
        public init(_ name: StaticString, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A text without metrics.
    public init() {}

    /// Begins a metric; its samples follow.
    public mutating func begin(_ kind: Kind, _ name: StaticString, _ help: StaticString) {
        self.name = name
        append("# HELP \(name) \(help)\n")
        append("# TYPE \(name) \(kind.rawValue)\n")
    }

    /// A metric of one sample without labels.
    public mutating func add(
        _ kind: Kind, _ name: StaticString, _ help: StaticString, _ value: Int
    ) {
        begin(kind, name, help)
        sample(value)
    }

    /// A metric with one sample for each of these labels; nothing without any.
    public mutating func add(
        _ kind: Kind, _ name: StaticString, _ help: StaticString, _ samples: [(Label, Int)]
    ) {
        guard !samples.isEmpty else { return }
        begin(kind, name, help)
        for (label, value) in samples { sample(value, label) }
    }

    /// A sample of the metric that was begun last.
    public mutating func sample(_ value: Int, _ labels: Label...) {
        sample("", labels, String(value))
    }

    /// A sample that is a time: given in microseconds, written in seconds.
    public mutating func sample(microseconds: UInt64, _ labels: Label...) {
        sample("", labels, Self.seconds(microseconds))
    }

    mutating func sample(_ suffix: StaticString, _ labels: [Label], _ value: String) {
        guard let name else { preconditionFailure("a sample of no metric") }
        append("\(name)\(suffix)")
        for (place, label) in labels.enumerated() {
            append(place == 0 ? "{" : ",")
            append("\(label.name)=\"")
            for byte in label.value.utf8 { append(escaping: byte) }
            append("\"")
        }
        append(labels.isEmpty ? " \(value)\n" : "} \(value)\n")
    }

    private mutating func append(escaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\\"): append("\\\\")
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\n"): append("\\n")
        default: bytes.append(byte)
        }
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Microseconds as a decimal number of seconds.
    static func seconds(_ microseconds: UInt64) -> String {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        guard rest > 0 else { return String(whole) }
        var digits = String(rest)
        digits = String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}
