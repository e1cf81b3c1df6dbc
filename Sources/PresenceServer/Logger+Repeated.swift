import Logging

extension Logger {
    /// Logs a repeated event the first, second, fourth, eighth … time only: what goes wrong with
    /// every request must not fill the log.
    func log(
        _ level: Level, _ message: Message, times: Int, metadata: @autoclosure () -> Metadata
    ) {
        guard times > 0, times & (times - 1) == 0 else { return }
        var values = metadata()
        values["times"] = .stringConvertible(times)
        log(level: level, message, metadata: values)
    }

    /// Logs a repeated error in the same way.
    func log(_ level: Level, _ message: Message, times: Int, error: some Error) {
        log(level, message, times: times, metadata: ["error": "\(error)"])
    }
}
