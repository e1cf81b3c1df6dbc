import Foundation
import PresenceClient

/// How the log is written.
enum LogFormat: String, CaseIterable {
    /// For people, with the local time.
    case text
    /// For programs: one JSON object a line.
    case json
}

/// One line of the log.
struct LogLine {
    /// Since 1970 UTC.
    let milliseconds: Int64
    let level: String
    let label: String
    let message: String
    let values: [String: Value]

    /// What a value is: JSON distinguishes them.
    enum Value {
        case text(String)
        /// As it is written, in JSON too.
        case number(String)
        case isTrue(Bool)

        /// As it is written in text.
        var text: String {
            switch self {
            case .text(let text), .number(let text): text
            case .isTrue(let isTrue): "\(isTrue)"
            }
        }
    }

    /// The values in the order of a line.
    var sortedValues: [(key: String, value: Value)] { values.sorted { $0.key < $1.key } }

    var text: String {
        let pairs = sortedValues.map { " \($0.key)=\(Self.quoted($0.value.text))" }
        let time = Self.time(milliseconds, "%Y-%m-%dT%H:%M:%S%z", isLocal: true)
        return "\(time) \(level) \(label): \(visible(message))" + pairs.joined()
    }

    /// A value in quotes if it is not one word. Controls are escaped: a value may be a client's.
    private static func quoted(_ value: String) -> String {
        let shown = visible(value)
        let isWord = !shown.isEmpty && !shown.contains { $0 == " " || $0 == "\"" || $0 == "=" }
        return isWord ? shown : "\"\(shown.replacing("\"", with: "\\\""))\""
    }

    /// A time as `format` (strftime(3)) says, in seconds.
    static func time(_ milliseconds: Int64, _ format: String, isLocal: Bool) -> String {
        var moment = time_t(milliseconds / 1_000)
        var parts = unsafe tm()
        var buffer = [CChar](repeating: 0, count: 32)
        let isKnown =
            isLocal
            ? unsafe localtime_r(&moment, &parts) != nil : unsafe gmtime_r(&moment, &parts) != nil
        let count = isKnown ? unsafe strftime(&buffer, buffer.count, format, &parts) : 0
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
