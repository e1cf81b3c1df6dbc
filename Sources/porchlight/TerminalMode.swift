import Foundation

/// Another mode of the terminal that is standard input. `deinit` restores the previous one.
final class TerminalMode {
    private let before: termios

    /// Changes local flags of the terminal. Nil if standard input is none.
    init?(without removed: CInt, with added: CInt = 0) {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        before = settings
        settings.c_lflag &= ~tcflag_t(removed)
        settings.c_lflag |= tcflag_t(added)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    deinit {
        var before = before
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    /// What has been typed.
    enum Input {
        case byte(UInt8)
        /// Nothing yet.
        case nothing
        /// The end: ^D, or the terminal is closed.
        case end
    }

    /// Waits for the next byte, for a time at most.
    func next(withinMilliseconds timeout: CInt) -> Input {
        var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard unsafe poll(&waiting, 1, timeout) == 1 else { return .nothing }
        switch unsafe read(STDIN_FILENO, &byte, 1) {
        case 1: return .byte(byte)
        case ..<0 where errno == EINTR || errno == EAGAIN: return .nothing
        default: return .end
        }
    }
}
