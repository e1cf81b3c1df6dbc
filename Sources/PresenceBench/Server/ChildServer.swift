// The service as a child process, on a processor of its own where there is more than one, and
// with a data directory that is removed after the run.

import CBench
import EventLoop
import Foundation
import Glibc

/// A service that a run has started.
final class ChildServer {
    let directory: String
    private(set) var process: pid_t = 0
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
    private var output: CInt = -1
    private var text: [UInt8] = []

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
        precondition(process == 0, "a child is started while it runs")
        var pipeEnds: [CInt] = [-1, -1]
        guard unsafe pipe(&pipeEnds) == 0 else { throw BenchError("A pipe cannot be created.") }
        for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(pipeEnds[0], F_SETFL, O_NONBLOCK)
        output = pipeEnds[0]
        text = []
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, pipeEnds[1], STDOUT_FILENO)
        // Of this process, and of whatever has started it.
        unsafe spawn_actions_add_close_from(&actions, STDERR_FILENO + 1)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            _ = Glibc.close(pipeEnds[1])
        }
        var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments(port: port).map {
            unsafe strdup($0)
        }
        unsafe words.append(nil)
        defer { unsafe words.forEach { unsafe free($0) } }
        // A thread of a pool blocks signals, and a child inherits that: SIGTERM must reach it.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        unsafe sigemptyset(&noSignals)
        unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let failure = unsafe posix_spawn(
            &process, executable, &actions, &attributes, words, environ)
        guard failure == 0 else {
            process = 0
            throw BenchError("\(executable) cannot be started (errno \(failure)).")
        }
        // Before it starts threads: they inherit the setting.
        if let processor { try? Processors.pin(process: process, to: processor) }
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
    func poll() throws(BenchError) -> ListenAddress? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(output, &buffer, buffer.count)
        if count > 0 { text += buffer[..<count] }
        if count == 0 {
            throw BenchError("The service ended before it was ready.")
        }
        guard text.last == UInt8(ascii: "\n") else { return nil }
        let line = String(decoding: text.dropLast(), as: UTF8.self)
        guard let colon = line.lastIndex(of: ":"),
            let port = UInt16(line[line.index(after: colon)...])
        else { throw BenchError("The service printed `\(line)` instead of its address.") }
        return ListenAddress(host: "127.0.0.1", port: port)
    }

    /// Waits until it is ready.
    func waitUntilReady(seconds: Int) throws(BenchError) -> ListenAddress {
        for _ in 0..<seconds * 100 {
            if let address = try poll() { return address }
            var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            _ = unsafe Glibc.poll(&descriptor, 1, 10)
        }
        throw BenchError("The service was not ready within \(seconds) s.")
    }

    func signal(_ number: CInt) {
        if process != 0 { kill(process, number) }
    }

    /// Whether it has ended; if so, it is reaped.
    func hasEnded() -> Bool {
        guard process != 0 else { return true }
        var status: CInt = 0
        guard unsafe waitpid(process, &status, WNOHANG) != 0 else { return false }
        process = 0
        _ = Glibc.close(output)
        return true
    }

    /// Ends it in any state, and removes its data.
    func end() {
        if process != 0 {
            kill(process, SIGKILL)
            var status: CInt = 0
            _ = unsafe waitpid(process, &status, 0)
            process = 0
            _ = Glibc.close(output)
        }
        try? FileManager.default.removeItem(atPath: directory)
    }
}
