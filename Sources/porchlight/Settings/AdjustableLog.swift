// The log on standard error: a line has the time, the level, where it comes from, what happened,
// and with which values:
//
//     2026-11-21T10:58:01+0000 warning porchlight: webhook not delivered webhook=crm times=3
//
// swift-log's own handler puts the values before the message, without quotes, and the module
// behind them.

import Foundation
import Logging
import PresenceClient
import Synchronization

/// Writes the log, above a threshold that can be moved at any time.
struct AdjustableLog: LogHandler {
    /// Standard error.
    static let output = LogOutput(STDERR_FILENO)

    private let label: String
    private static let place = Atomic(Logger.Level.notice.place)

    init(label: String) {
        self.label = label
    }

    /// Sets the threshold for every logger of the process.
    static func setThreshold(_ level: Logger.Level) {
        place.store(level.place, ordering: .relaxed)
    }

    var logLevel: Logger.Level {
        get { Logger.Level.allCases[Self.place.load(ordering: .relaxed)] }
        set {}
    }

    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var values = metadata
        values.merge(event.metadata ?? [:]) { $1 }
        if let error = event.error { values["error"] = "\(error)" }
        let line = LogLine(
            seconds: time(nil), level: event.level.rawValue, label: label,
            message: event.message.description, values: values.mapValues(\.description))
        Self.output.write(line.text)
    }
}

extension Logger.Level {
    fileprivate var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One line of the log.
struct LogLine {
    /// Since 1970.
    let seconds: Int
    let level: String
    let label: String
    let message: String
    let values: [String: String]

    var text: String {
        let pairs = values.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted($0.value))" }
        return "\(Self.timestamp(seconds)) \(level) \(label): \(visible(message))"
            + pairs.joined()
    }

    /// A value in quotes if it is not one word. Controls are escaped: a value may be a client's.
    private static func quoted(_ value: String) -> String {
        let shown = visible(value)
        let isWord = !shown.isEmpty && !shown.contains { $0 == " " || $0 == "\"" || $0 == "=" }
        return isWord ? shown : "\"\(shown.replacing("\"", with: "\\\""))\""
    }

    private static func timestamp(_ seconds: Int) -> String {
        var moment = time_t(seconds)
        var parts = unsafe tm()
        var buffer = [CChar](repeating: 0, count: 32)
        let count =
            unsafe localtime_r(&moment, &parts) == nil
            ? 0 : unsafe strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%S%z", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
