import Glibc

/// A line that shows the progress on a terminal; a no-op without a terminal.
final class ProgressLine {
    var stage = ""

    private let isShown: Bool
    private var shownAt: UInt64 = 0
    private static let pauseNanoseconds: UInt64 = 250_000_000

    init(isShown: Bool) {
        self.isShown = isShown && isatty(STDERR_FILENO) == 1
    }

    func show(_ now: UInt64, _ details: () -> String) {
        guard isShown, now &- shownAt >= Self.pauseNanoseconds else { return }
        shownAt = now
        put("\r\u{1b}[K\(stage): \(details())")
    }

    /// Removes the line.
    func clear() {
        if isShown, shownAt > 0 { put("\r\u{1b}[K") }
    }

    private func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
