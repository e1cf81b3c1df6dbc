/// A writer for the Prometheus text format: families of samples, one after the other.
///
/// Metric names, help texts and label names are literals that need no escapes. Label values come
/// from closed sets; only the version can need escapes.
/// https://prometheus.io/docs/instrumenting/exposition_formats/
struct MetricsText {
    private(set) var bytes: [UInt8] = []
    private var name: StaticString = ""

    /// The type of a family.
    enum Kind: String {
        /// It only rises, and is 0 after a restart.
        case counter
        /// A current value.
        case gauge
        case histogram
    }

    /// Begins a family; its samples follow.
    mutating func begin(_ kind: Kind, _ name: StaticString, _ help: StaticString) {
        self.name = name
        append("# HELP ")
        append(name)
        append(" ")
        append(help)
        append("\n# TYPE ")
        append(name)
        append(" ")
        append(kind.rawValue)
        append("\n")
    }

    /// A family of one sample.
    mutating func add(_ kind: Kind, _ name: StaticString, _ help: StaticString, _ value: Int) {
        begin(kind, name, help)
        sample(value)
    }

    /// A family of one sample that is a time: given in microseconds, written in seconds.
    mutating func add(
        _ kind: Kind, _ name: StaticString, _ help: StaticString, microseconds: UInt64
    ) {
        begin(kind, name, help)
        append(name)
        append(" ")
        append(seconds: microseconds)
        append("\n")
    }

    /// A sample without labels.
    mutating func sample(_ value: Int) {
        append(name)
        append(" ")
        append(String(value))
        append("\n")
    }

    /// A sample with one label.
    mutating func sample(_ label: StaticString, _ word: String, _ value: Int) {
        append(name)
        append("{")
        append(label)
        append("=\"")
        for character in word.unicodeScalars { append(escaped(character)) }
        append("\"} ")
        append(String(value))
        append("\n")
    }

    private func escaped(_ character: Unicode.Scalar) -> String {
        switch character {
        case "\\": "\\\\"
        case "\"": "\\\""
        case "\n": "\\n"
        default: String(character)
        }
    }

    mutating func append(_ text: StaticString) {
        append(text.description)
    }

    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends microseconds as seconds.
    mutating func append(seconds microseconds: UInt64) {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        append(String(whole))
        guard rest > 0 else { return }
        var digits = String(rest)
        digits = String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        append("." + digits)
    }
}
