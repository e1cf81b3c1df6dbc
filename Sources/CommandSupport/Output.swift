// What the verbs print. A verb whose output cannot be written fails: a script must not take an
// empty file for a key.

import ArgumentParser
import Foundation

/// Prints a line without buffering, also into a pipe.
///
/// - Throws: if it cannot be written. A reader that has closed the pipe, such as `head`, ends the
///   verb without a message.
public func announce(_ line: String, terminator: String = "\n") throws {
    let number = write(line + terminator, to: STDOUT_FILENO)
    guard number != 0 else { return }
    throw outputFailure(number)
}

/// Prints a line on standard error, for people; standard output is for programs.
public func note(_ line: String) {
    _ = write(line + "\n", to: STDERR_FILENO)
}

/// Asks for something on standard error; the answer follows on the same line.
public func prompt(_ words: String) {
    _ = write(words, to: STDERR_FILENO)
}

/// Prints a line that a program may read on standard error.
///
/// - Throws: if it cannot be written.
public func announceAside(_ line: String) throws {
    // A message about this has nowhere to go.
    guard write(line + "\n", to: STDERR_FILENO) == 0 else { throw ExitCode.failure }
}

/// Makes the process answer for its output: for a write to a closed pipe by an error instead of a
/// signal, so that a session can be logged out, and for text that the parser prints, such as help,
/// when the process exits.
public func watchOutput() {
    signal(SIGPIPE, SIG_IGN)
    atexit {
        guard fflush(nil) != 0 else { return }
        let number = errno
        if number != EPIPE { note("Error: \(cannotWrite(number))") }
        _exit(number == EPIPE ? closedPipe.rawValue : ExitCode.failure.rawValue)
    }
}

/// The exit code that a shell gives a program that SIGPIPE has ended.
private let closedPipe = ExitCode(128 + SIGPIPE)

private func outputFailure(_ number: CInt) -> any Error {
    number == EPIPE ? closedPipe : CommandError(cannotWrite(number))
}

private func cannotWrite(_ number: CInt) -> String {
    "Standard output cannot be written: \(unsafe String(cString: strerror(number)))."
}

/// Writes a text whole; returns the error's number, or 0.
private func write(_ text: String, to descriptor: CInt) -> CInt {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { bytes in
            unsafe Foundation.write(descriptor, bytes.baseAddress, bytes.count)
        }
        if count >= 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            // Another process that has the same terminal or pipe may have made it non-blocking.
            var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&writable, 1, -1)
        } else if errno != EINTR {
            return errno
        }
    }
    return 0
}
