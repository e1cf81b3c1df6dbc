import Logging
import Synchronization

/// The log on standard error, whose threshold can be moved while it is written.
struct AdjustableLog: LogHandler {
    private var stream: StreamLogHandler
    private static let place = Atomic(LogLevel.notice.place)

    init(label: String) {
        stream = .standardError(label: label)
        // The threshold here decides.
        stream.logLevel = .trace
    }

    /// Holds from now on, for every logger of the process.
    static func setThreshold(_ level: LogLevel) {
        place.store(level.place, ordering: .relaxed)
    }

    var logLevel: Logger.Level {
        get { LogLevel.allCases[Self.place.load(ordering: .relaxed)].level }
        set {}
    }

    var metadata: Logger.Metadata {
        get { stream.metadata }
        set { stream.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { stream[metadataKey: key] }
        set { stream[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        stream.log(event: event)
    }
}

extension LogLevel {
    fileprivate var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
