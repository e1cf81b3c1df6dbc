import Foundation

/// The result of a run.
public struct Report {
    /// The name of the scenario.
    public let scenario: String
    /// The seed, with which the run can be repeated.
    public let seed: UInt64
    private(set) var settings: [(name: String, value: String)] = []
    private(set) var figures: [Figure] = []

    struct Figure {
        let name: String
        let value: Double
        let unit: String
        let digits: Int
    }

    init(_ scenario: String, _ options: BenchOptions) {
        self.scenario = scenario
        seed = options.seed
    }

    mutating func set(_ name: String, _ value: some CustomStringConvertible) {
        settings.append((name, value.description))
    }

    mutating func add(_ name: String, _ value: Double, _ unit: String, digits: Int = 2) {
        figures.append(Figure(name: name, value: value, unit: unit, digits: digits))
    }

    mutating func add(_ name: String, _ count: Int) {
        add(name, Double(count), "", digits: 0)
    }

    /// Adds the percentiles of a distribution.
    mutating func add(_ name: String, _ values: Latencies) {
        for percentile in [50, 90, 99, 99.9] where values.count > 1 {
            let label = percentile == 99.9 ? "99.9" : "\(Int(percentile))"
            add("\(name) p\(label)", values.milliseconds(percentile: percentile), "ms", digits: 3)
        }
        add("\(name) max", values.maxMilliseconds, "ms", digits: 3)
    }

    /// The CPU time of the service between two samples, in total and per operation.
    mutating func addCPU(
        _ name: String, from begin: ProcessSample?, to end: ProcessSample?, per operations: Int
    ) {
        guard let begin, let end, operations > 0 else { return }
        let unit = 1e6 / Double(operations)
        add("server CPU per \(name)", (end.cpuSeconds - begin.cpuSeconds) * unit, "µs", digits: 3)
        add(
            "server CPU per \(name), system", (end.systemSeconds - begin.systemSeconds) * unit,
            "µs", digits: 3)
        addThreads(name, from: begin, to: end, unit)
    }

    /// Adds the CPU time of each thread that has used any. The kernel counts it in hundredths of a
    /// second.
    private mutating func addThreads(
        _ name: String, from begin: ProcessSample, to end: ProcessSample, _ unit: Double
    ) {
        let used = end.threadSeconds.map { thread, seconds in
            (thread: thread, seconds: seconds - (begin.threadSeconds[thread] ?? 0))
        }
        for (thread, seconds) in used.sorted(by: { $0.thread < $1.thread }) where seconds > 0 {
            add("server CPU per \(name), thread \(thread)", seconds * unit, "µs", digits: 3)
            guard thread == Self.engineThread else { continue }
            // What follows if nothing but this thread is the limit.
            add("projected: \(name) limit of the engine", 1e6 / (seconds * unit), "/s", digits: 0)
        }
    }

    /// The name of the thread of the engine host in a service with several connection loops.
    private static let engineThread = "engine"

    /// A figure by its name.
    public func value(_ name: String) -> Double? { figures.first { $0.name == name }?.value }

    /// The result as a table.
    public var table: String {
        let width = figures.map(\.name.count).max() ?? 0
        let head =
            "\(scenario)  "
            + (settings + [("seed", "\(seed)")]).map { "\($0.name) \($0.value)" }
            .joined(separator: ", ")
        let lines = figures.map { figure in
            let value = String(format: "%.\(figure.digits)f", figure.value)
            let pad = String(repeating: " ", count: max(0, 14 - value.count))
            return "  " + figure.name.padding(toLength: width, withPad: " ", startingAt: 0)
                + pad + value + (figure.unit.isEmpty ? "" : " " + figure.unit)
        }
        return ([head] + lines).joined(separator: "\n")
    }

    /// The result as one JSON object.
    public var json: String {
        var object: [String: Any] = ["scenario": scenario, "seed": "\(seed)"]
        object["settings"] = Dictionary(settings.map { ($0.name, $0.value) }) { $1 }
        object["figures"] = figures.map { figure -> [String: Any] in
            [
                "name": figure.name.trimmingCharacters(in: .whitespaces), "value": figure.value,
                "unit": figure.unit,
            ]
        }
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: options)
        else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
