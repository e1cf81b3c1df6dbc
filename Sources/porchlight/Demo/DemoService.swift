import CommandSupport
import Dispatch
import EventLoop
import Foundation
import Synchronization

/// The service of the demo, in a process of its own, which can be killed and is started again.
///
/// It ends with this process: its standard input is a pipe whose other end only this process has.
final class DemoService: Sendable {
    private struct State {
        var process: ChildProcess?
        /// The ports of the first start, which the others have, too.
        var service = "127.0.0.1:0", http = "127.0.0.1:0"
        /// Who waits for the service after it was killed, and since when.
        var waiting: [(since: UInt64, whenReady: @Sendable (Int64) -> Void)] = []
    }

    private let program: String
    private let options: [String]
    private let state = Mutex(State())
    /// Milliseconds between two checks for a signal.
    private static let tick: CInt = 200
    /// For how long the service may stop: it needs at most 10 s itself.
    private static let stopTicks = 60

    /// Nothing is started.
    init(program: String, options: [String]) {
        self.program = program
        self.options = options
    }

    /// Starts it, and waits until it is ready.
    ///
    /// - Returns: where it listens; nil if a signal has arrived before.
    func start(until interrupts: Interrupts) throws(CommandError) -> String? {
        var process = try spawn()
        var line = ""
        while !line.hasSuffix("\n") {
            guard !interrupts.hasCome else { return nil }
            switch process.read(withinMilliseconds: Self.tick) {
            case .text(let text): line += text
            case .nothing: break
            case .end:
                guard !interrupts.hasCome else { return nil }
                let end = reap()
                guard case .killed = end else {
                    // It has said why on standard error.
                    throw CommandError("The demo's service did not start: \(end.words).")
                }
                (process, line) = (try spawn(), "")
            }
        }
        // ready on 127.0.0.1:7400, http on 127.0.0.1:7401
        let addresses = line.dropLast().components(separatedBy: " on ").dropFirst().map {
            String($0.prefix { $0 != "," })
        }
        guard addresses.count == 2 else {
            throw CommandError("The demo's service printed `\(line.dropLast())`.")
        }
        let waiting = state.withLock { state in
            (state.service, state.http) = (addresses[0], addresses[1])
            defer { state.waiting = [] }
            return state.waiting
        }
        let now = DispatchTime.now().uptimeNanoseconds
        for one in waiting { one.whenReady(Int64((now - one.since) / 1_000_000)) }
        return addresses[0]
    }

    private func spawn() throws(CommandError) -> ChildProcess {
        let (service, http) = state.withLock { ($0.service, $0.http) }
        // The settings of another service that this shell may have are not for the demo's.
        let environment = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("PORCHLIGHT_")
        }
        let words = [
            program, "serve", "--until-input-ends", "--listen", service, "--http", http,
        ]
        do throws(UVError) {
            let process = try ChildProcess(words + options, environment: environment)
            state.withLock { $0.process = process }
            return process
        } catch {
            throw CommandError("\(program) cannot be started (\(error)).")
        }
    }

    /// Kills it, as kill -9 does. Thread-safe.
    func kill(whenReady: @escaping @Sendable (Int64) -> Void) {
        state.withLock { state in
            state.waiting.append((DispatchTime.now().uptimeNanoseconds, whenReady))
            state.process?.kill(SIGKILL)
        }
    }

    /// Starts it again whenever it is killed, by `kill` or by anything else, until a signal comes.
    func keepRunning(until interrupts: Interrupts) throws(CommandError) {
        while !interrupts.hasCome {
            guard let process = state.withLock({ $0.process }),
                case .end = process.read(withinMilliseconds: Self.tick), !interrupts.hasCome
            else { continue }
            let end = reap()
            switch end {
            case .killed: break
            // It stops in order only after a signal.
            case .exited(0):
                throw CommandError(
                    "Another process has ended the demo's service, so the demo ends, too.")
            case .exited, .signal:
                throw CommandError("The demo's service has ended: \(end.words).")
            }
            note("The service was killed, and is started again.")
            _ = try start(until: interrupts)
        }
    }

    /// Ends it, and waits for that.
    func end() {
        guard let process = state.withLock({ $0.process }) else { return }
        process.kill(SIGTERM)
        for _ in 0..<Self.stopTicks {
            if case .end = process.read(withinMilliseconds: Self.tick) { break }
        }
        process.kill(SIGKILL)
        _ = reap()
    }

    /// Waits for its end. After this its number may be that of another process.
    private func reap() -> ChildProcess.End {
        state.withLock { state in
            defer { state.process = nil }
            return state.process?.wait() ?? .exited(0)
        }
    }
}
