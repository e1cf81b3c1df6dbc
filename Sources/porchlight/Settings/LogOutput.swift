import EventLoop
import Foundation
import PrometheusText
import Synchronization

/// Writes lines to a descriptor, and does not wait for its reader.
///
/// A thread that logs must not stop because a journal or a pipe is not read: it may be the engine's
/// thread, which all clients wait for. A line that the descriptor does not accept at once is
/// dropped and counted. When lines are accepted again, the first one says how many are missing.
///
/// Lines that wait while another thread writes are lost if the process ends in that moment.
final class LogOutput: Sendable {
    /// Longer lines are cut. A pipe accepts as much as a whole or not at all (pipe(7), `PIPE_BUF`).
    static let lineBytesMax = 4_096
    /// Lines that wait while another thread writes: it may be in a file system that hangs.
    static let linesWaitingMax = 1_024

    private struct State {
        var waiting: [[UInt8]] = []
        /// A thread is writing, and will write what waits, too.
        var isWriting = false
        /// Since the start.
        var dropped = 0
        /// Of those that were dropped: the log says that they are missing.
        var reported = 0
        /// Of the last line that was written, the end was not accepted.
        var isWithinLine = false
    }

    private let output: NonblockingOutput
    private let state = Mutex(State())
    private let isJSON = Atomic(false)

    init(_ descriptor: CInt) {
        output = NonblockingOutput(descriptor)
    }

    /// Lines that were dropped since the start.
    var dropped: Int { state.withLock { $0.dropped } }

    /// How lines are written. Any thread.
    var format: LogFormat {
        get { isJSON.load(ordering: .relaxed) ? .json : .text }
        set { isJSON.store(newValue == .json, ordering: .relaxed) }
    }

    /// Writes a line, which gets its line feed here. Any thread.
    func write(_ line: LogLine) { write(bytes(of: line)) }

    /// Writes a line, which gets its line feed here. Any thread.
    func write(_ line: String) { write(Self.cut(line)) }

    private func bytes(of line: LogLine) -> [UInt8] {
        switch format {
        case .text: Self.cut(line.text)
        case .json: line.json(bytesMax: Self.lineBytesMax - 1)
        }
    }

    private func write(_ line: [UInt8]) {
        let bytes = line + [UInt8(ascii: "\n")]
        let isWriter = state.withLock { state in
            guard state.waiting.count < Self.linesWaitingMax else {
                state.dropped += 1
                return false
            }
            state.waiting.append(bytes)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isWriter else { return }
        while let lines = takeWaiting() {
            for line in lines { put(line) }
        }
    }

    /// The characters of a line for which there is room.
    private static func cut(_ line: String) -> [UInt8] {
        var bytes = Array(line.utf8.prefix(lineBytesMax))
        guard bytes.count == lineBytesMax else { return bytes }
        // A byte whose two upper bits are 10 is within a character.
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
        return bytes
    }

    /// What waits; nil: nothing, and this thread does not write any more.
    private func takeWaiting() -> [[UInt8]]? {
        state.withLock { state in
            state.isWriting = !state.waiting.isEmpty
            guard state.isWriting else { return nil }
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func put(_ line: [UInt8]) {
        let missing = state.withLock { $0.dropped - $0.reported }
        if missing > 0, putAtOnce(notice(missing)) {
            state.withLock { $0.reported += missing }
        }
        guard !putAtOnce(line) else { return }
        state.withLock { $0.dropped += 1 }
    }

    private func notice(_ missing: Int) -> [UInt8] {
        let line = LogLine(
            milliseconds: Loop.wallMilliseconds(), level: "warning", label: "porchlight",
            message: "log lines were dropped", values: ["count": .number("\(missing)")])
        return bytes(of: line) + [UInt8(ascii: "\n")]
    }

    /// Whether the descriptor has accepted the whole line. One call of the system per line, so that
    /// lines of several processes do not mix.
    private func putAtOnce(_ line: [UInt8]) -> Bool {
        let lineFeed = UInt8(ascii: "\n")
        let bytes = state.withLock { $0.isWithinLine } ? [lineFeed] + line : line
        let accepted = bytes.prefix(output.write(bytes))
        if let last = accepted.last {
            state.withLock { $0.isWithinLine = last != lineFeed }
        }
        return accepted.count == bytes.count
    }

    /// In the Prometheus text format.
    func metricsText() -> [UInt8] {
        var text = MetricsText()
        text.add(
            .counter, "porchlight_log_lines_dropped_total",
            "Log lines that standard error did not accept at once.", dropped)
        return text.bytes
    }
}
