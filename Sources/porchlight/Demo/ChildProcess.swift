import CommandSupport
import Foundation

/// A process that this one has started, with pipes as its standard input and output.
///
/// Only this process has the other end of its input, which ends when this process does, also by
/// kill -9.
final class ChildProcess: Sendable {
    /// How it has ended.
    enum End {
        case exited(CInt)
        /// By SIGKILL.
        case killed
        /// By another signal.
        case signal(CInt)

        /// As they continue a sentence.
        var words: String {
            switch self {
            case .exited(let code): "exit code \(code)"
            case .killed: "it was killed"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    enum Output {
        case text(String)
        case nothing, end
    }

    private let identifier: pid_t
    private let input: CInt
    private let output: CInt

    /// Starts a program with these variables in its environment; the first word is its path.
    init(_ words: [String], environment: [String: String]) throws(CommandError) {
        let path = words[0]
        guard let input = Pipe(), let output = Pipe() else {
            throw CommandError("A pipe cannot be created: \(Self.reason(errno)).")
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, input.readEnd, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.writeEnd, STDOUT_FILENO)
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { name, value in
            unsafe strdup("\(name)=\(value)")
        }
        unsafe variables.append(nil)
        var made: pid_t = 0
        let number = unsafe posix_spawn(&made, path, &actions, nil, arguments, variables)
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe (arguments + variables).forEach { unsafe free($0) }
        close(input.readEnd)
        close(output.writeEnd)
        guard number == 0 else {
            close(input.writeEnd)
            close(output.readEnd)
            throw CommandError("\(path) cannot be started: \(Self.reason(number)).")
        }
        identifier = made
        self.input = input.writeEnd
        self.output = output.readEnd
    }

    deinit {
        close(input)
        close(output)
    }

    /// Waits for more of its output. The output ends when the process does.
    func read(withinMilliseconds milliseconds: CInt) -> Output {
        var readable = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&readable, 1, milliseconds) > 0 else { return .nothing }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = unsafe Foundation.read(output, &buffer, buffer.count)
        guard count != 0 else { return .end }
        return count < 0 ? .nothing : .text(String(decoding: buffer[..<count], as: UTF8.self))
    }

    /// Sends it a signal. Not to be called after `wait`.
    func kill(_ number: CInt) {
        Foundation.kill(identifier, number)
    }

    /// Waits for its end.
    func wait() -> End {
        var status: CInt = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        // As the macros of wait(2) do, which Swift does not see.
        let signal = status & 0x7F
        guard signal != 0 else { return .exited((status >> 8) & 0xFF) }
        return signal == SIGKILL ? .killed : .signal(signal)
    }

    private static func reason(_ number: CInt) -> String {
        unsafe String(cString: strerror(number))
    }
}

/// The two ends of a pipe, which children do not inherit.
private struct Pipe {
    let readEnd: CInt
    let writeEnd: CInt

    /// Nil: no descriptor could be opened, and `errno` has the reason.
    init?() {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }
}
