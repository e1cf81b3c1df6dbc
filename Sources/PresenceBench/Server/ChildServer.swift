// The service as a child process, on a processor of its own where there is more than one, and
// with a data directory that is removed after the run.

import EventLoop
import Foundation
import Glibc

/// A service that a run has started.
final class ChildServer {
    let directory: String
    /// Its number; 0 while it does not run.
    var process: Int32 { child?.identifier ?? 0 }
    /// The program of the child process.
    enum Program {
        case service
        /// `Floor`, for this number of accounts in groups of this size.
        case floor(accounts: Int, group: Int)
    }

    private let executable: String
    private let program: Program
    private let options: [String]
    private let processor: Int?
    private var child: ChildProcess?
    private var text = ""

    /// Makes the data directory; nothing is started.
    init(
        executable: String, program: Program = .service, options: [String], processor: Int?
    ) throws(BenchError) {
        self.executable = executable
        self.program = program
        self.options = options
        self.processor = processor
        var template = Array(
            (FileManager.default.temporaryDirectory.path + "/porchlight-bench-XXXXXX").utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer {
            unsafe $0.baseAddress.flatMap { unsafe mkdtemp($0) } != nil
        }
        guard made else { throw BenchError("A temporary directory cannot be created.") }
        directory = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Starts the service; `poll` says when it is ready.
    func start(port: UInt16) throws(BenchError) {
        precondition(child == nil, "a child is started while it runs")
        text = ""
        do throws(UVError) {
            let child = try ChildProcess(
                arguments(port: port), environment: ProcessInfo.processInfo.environment)
            self.child = child
            // Before it starts threads: they inherit the setting.
            if let processor { try? Processors.pin(process: child.identifier, to: processor) }
        } catch {
            throw BenchError("\(executable) cannot be started (\(error)).")
        }
    }

    private func arguments(port: UInt16) -> [String] {
        switch program {
        case .service:
            return [
                executable, "serve", "--listen", "127.0.0.1:\(port)", "--data", directory,
                "--rate-limits", "off", "--log-level", "error",
            ] + options
        case .floor(let accounts, let group):
            return [
                executable, "bench", "floor-server", "--accounts", "\(accounts)", "--group",
                "\(group)",
            ]
        }
    }

    /// Its address; nil until it is ready.
    func poll(withinMilliseconds milliseconds: CInt = 0) throws(BenchError) -> ListenAddress? {
        switch child?.read(withinMilliseconds: milliseconds) {
        case .text(let more): text += more
        case .end: throw BenchError("The service ended before it was ready.")
        case .nothing, nil: break
        }
        guard text.last == "\n" else { return nil }
        let line = text.dropLast()
        guard let colon = line.lastIndex(of: ":"),
            let port = UInt16(line[line.index(after: colon)...])
        else { throw BenchError("The service printed `\(line)` instead of its address.") }
        return ListenAddress(host: "127.0.0.1", port: port)
    }

    /// Waits until it is ready.
    func waitUntilReady(seconds: Int) throws(BenchError) -> ListenAddress {
        for _ in 0..<seconds * 100 {
            if let address = try poll(withinMilliseconds: 10) { return address }
        }
        throw BenchError("The service was not ready within \(seconds) s.")
    }

    func signal(_ number: CInt) { child?.kill(number) }

    /// Whether it has ended; if so, it is reaped.
    func hasEnded() -> Bool {
        if child?.endIfAny() != nil { child = nil }
        return child == nil
    }

    /// Ends it in any state, and removes its data.
    func end() {
        child?.kill(SIGKILL)
        _ = child?.wait()
        child = nil
        try? FileManager.default.removeItem(atPath: directory)
    }
}
