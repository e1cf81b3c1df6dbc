import Foundation

/// Key presses at the terminal, one by one, without Enter and without an echo.
///
/// None if standard input is not a terminal. The terminal is as it was when this is gone; ^C is
/// still a signal.
final class KeyPresses {
    /// The terminal's settings before; nil: it is not a terminal.
    private let before: termios?

    init() {
        var settings = termios()
        // In the background, changing the terminal would stop this process (termios(3)).
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(),
            unsafe tcgetattr(STDIN_FILENO, &settings) == 0
        else {
            before = nil
            return
        }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    deinit {
        guard var before else { return }
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    /// The next key that was pressed; nil if there is none.
    func next() -> Character? {
        guard before != nil else { return nil }
        var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard unsafe poll(&waiting, 1, 0) == 1, unsafe read(STDIN_FILENO, &byte, 1) == 1 else {
            return nil
        }
        return Character(UnicodeScalar(byte))
    }
}
