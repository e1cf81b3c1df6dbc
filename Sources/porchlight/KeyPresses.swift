import Foundation

/// Key presses at the terminal, one by one, without Enter and without an echo.
///
/// None if standard input is not a terminal. Its release restores the terminal; ^C is still a
/// signal.
final class KeyPresses {
    /// Nil if there is no terminal.
    private let terminal: TerminalMode?

    init() {
        // In the background, changing the terminal would stop this process (termios(3)).
        let isAtTerminal = isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
        terminal = isAtTerminal ? TerminalMode(without: ICANON | ECHO) : nil
    }

    /// The next key that was pressed; nil if there is none.
    func next() -> Character? {
        guard case .byte(let byte)? = terminal?.next(withinMilliseconds: 0) else { return nil }
        return Character(UnicodeScalar(byte))
    }
}
