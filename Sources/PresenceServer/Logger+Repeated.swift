import Logging

extension Logger {
    /// Logs an error that may happen often, with how often it has happened: the first, second,
    /// fourth, eighth … time only.
    func log(_ level: Level, _ message: Message, times: Int, error: some Error) {
        guard times > 0, times & (times - 1) == 0 else { return }
        log(level: level, message, metadata: ["error": "\(error)", "times": "\(times)"])
    }
}
