// The log on standard error: a line has the time, the level, where it comes from, what happened,
// and with which values:
//
//     2026-11-21T10:58:01+0000 warning porchlight: webhook not delivered webhook=crm times=3
//
// or it is a JSON object with the same values (`log-format`). swift-log's own handler puts the
// values before the message, without quotes, and the module behind them.

import CommandSupport
import EventLoop
import Foundation
import Logging
import Synchronization

/// Writes the log, above a threshold and in a format that can be changed at any time.
struct AdjustableLog: LogHandler {
    /// Standard error.
    static let output = LogOutput(STDERR_FILENO)

    private let label: String
    private static let place = Atomic(Logger.Level.notice.place)

    init(label: String) {
        self.label = label
    }

    /// Sets the threshold and the format for every logger of the process.
    static func apply(_ settings: LiveSettings) {
        place.store(settings.logLevel.place, ordering: .relaxed)
        output.format = settings.logFormat
    }

    /// Says why the process ends: as a line of the log, if programs read that.
    static func announce(error: String) {
        switch output.format {
        case .text: note("Error: \(error)")
        case .json:
            output.write(
                LogLine(
                    milliseconds: Loop.wallMilliseconds(), level: Logger.Level.critical.rawValue,
                    label: "porchlight", message: error, values: [:]))
        }
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
        Self.output.write(
            LogLine(
                milliseconds: Loop.wallMilliseconds(), level: event.level.rawValue, label: label,
                message: event.message.description, values: values.mapValues(LogLine.Value.init)))
    }
}

extension LogLine.Value {
    /// Only what is logged as a number or a boolean becomes one. A name may look like a number, and
    /// a member must not be of another type in the next line.
    init(_ value: Logger.MetadataValue) {
        switch value {
        case .stringConvertible(let value as Bool): self = .isTrue(value)
        case .stringConvertible(let value as any BinaryInteger): self = .number("\(value)")
        case .stringConvertible(let value as Double) where value.isFinite:
            self = .number("\(value)")
        default: self = .text(value.description)
        }
    }
}

extension Logger.Level {
    fileprivate var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
