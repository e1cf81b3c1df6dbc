import CLibUV
import Glibc

/// A process that this one has started, with pipes as its standard input and output.
///
/// Only this process has the other end of its input, which ends when this process does, also by
/// kill -9. Of this process, and of whatever has started it, it has no descriptor but standard
/// error.
public final class ChildProcess: Sendable {
    /// How it has ended.
    public enum End: Equatable, Sendable {
        /// By itself, with this code.
        case exited(CInt)
        /// By SIGKILL.
        case killed
        /// By another signal.
        case signal(CInt)

        /// As they continue a sentence.
        public var words: String {
            switch self {
            case .exited(let code): "exit code \(code)"
            case .killed: "it was killed"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    /// What it has written.
    public enum Output: Equatable, Sendable {
        /// A part.
        case text(String)
        /// Nothing more yet.
        case nothing
        /// Nothing more, ever.
        case end
    }

    /// Its number, which another process may have once its end has been waited for.
    public let identifier: Int32
    private let input: CInt
    private let output: CInt

    /// Starts a program with these variables in its environment; the first word is its path.
    public init(_ words: [String], environment: [String: String]) throws(UVError) {
        var ends: [CInt] = []
        defer { ends.forEach(Descriptors.close) }
        for _ in 0..<2 {
            var pipe: [CInt] = [-1, -1]
            try check(unsafe uv_pipe(&pipe, 0, 0), "pipe")
            ends += pipe
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[3], STDOUT_FILENO)
        unsafe cuv_spawn_close_from(&actions, STDERR_FILENO + 1)
        // A thread of a pool blocks signals, and a child inherits that: SIGTERM must reach it.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        unsafe sigemptyset(&noSignals)
        unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let variables = environment.map { "\($0)=\($1)" }
        var texts = unsafe (words + variables).map { unsafe strdup($0) }
        defer { unsafe texts.forEach { unsafe free($0) } }
        unsafe texts.insert(nil, at: words.count)
        unsafe texts.append(nil)
        var made: pid_t = 0
        let number = unsafe texts.withUnsafeBufferPointer { texts -> CInt in
            guard let arguments = texts.baseAddress, let path = unsafe arguments[0] else {
                return EINVAL
            }
            return unsafe posix_spawn(
                &made, path, &actions, &attributes, arguments, arguments + words.count + 1)
        }
        try check(uv_translate_sys_error(number), "posix_spawn")
        identifier = made
        (input, output) = (ends[1], ends[2])
        ends = [ends[0], ends[3]]
    }

    deinit {
        Descriptors.close(input)
        Descriptors.close(output)
    }

    /// Waits for more of its output. The output ends when the process does.
    public func read(withinMilliseconds milliseconds: CInt) -> Output {
        var readable = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&readable, 1, milliseconds) > 0 else { return .nothing }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = unsafe Glibc.read(output, &buffer, buffer.count)
        guard count != 0 else { return .end }
        return count < 0 ? .nothing : .text(String(decoding: buffer[..<count], as: UTF8.self))
    }

    /// Sends it a signal. Not to be called once its end has been waited for.
    public func kill(_ number: CInt) {
        Glibc.kill(identifier, number)
    }

    /// Waits for its end.
    public func wait() -> End {
        end(options: 0) ?? .exited(0)
    }

    /// Its end; nil: it runs.
    public func endIfAny() -> End? {
        end(options: WNOHANG)
    }

    private func end(options: CInt) -> End? {
        var status: CInt = 0
        var ended = unsafe waitpid(identifier, &status, options)
        while ended < 0, errno == EINTR {
            ended = unsafe waitpid(identifier, &status, options)
        }
        guard ended != 0 else { return nil }
        // As the macros of wait(2) do, which Swift does not see.
        let signal = status & 0x7F
        guard signal != 0 else { return .exited((status >> 8) & 0xFF) }
        return signal == SIGKILL ? .killed : .signal(signal)
    }
}
