import CommandSupport
import Containers
import Foundation
import PresenceClient

/// The new password of an account: typed at the terminal, or the first line of standard input if
/// that is something else. Errors never quote it.
func newPassword(of account: String) throws -> String {
    guard isatty(STDIN_FILENO) == 1 else {
        return try CredentialFile.firstLineOfInput(content: "password")
    }
    let interrupts = Interrupts()
    // A shell that stops the verb would let the terminal echo again; one that quits would leave it
    // without.
    let stopping = signal(SIGTSTP, SIG_IGN)
    let quitting = signal(SIGQUIT, SIG_IGN)
    defer {
        signal(SIGTSTP, stopping)
        signal(SIGQUIT, quitting)
        interrupts.end()
    }
    return try typedPassword(of: account, until: interrupts)
}

/// A function of its own: the terminal is as before when it returns, and before a signal can end
/// the process again.
private func typedPassword(of account: String, until interrupts: Interrupts) throws -> String {
    guard let terminal = TerminalMode(without: ECHO, with: ECHONL) else {
        throw CommandError("The terminal cannot be set to read a password without an echo.")
    }
    let password = try terminal.line("Password of \(visible(account)): ", until: interrupts)
    guard !password.isEmpty else {
        throw CommandError("No password was typed: nothing is changed.")
    }
    let again = try terminal.line("The same again: ", until: interrupts)
    guard ExactText(again) == ExactText(password) else {
        throw CommandError("The two passwords differ: nothing is changed.")
    }
    return password
}

extension TerminalMode {
    /// The line that is typed behind a prompt.
    fileprivate func line(_ words: String, until interrupts: Interrupts) throws -> String {
        prompt(words)
        var bytes: [UInt8] = []
        while !interrupts.hasCome {
            // Not without end: a signal just before it would not end it.
            switch next(withinMilliseconds: 200) {
            case .nothing: continue
            case .byte(let byte) where byte != UInt8(ascii: "\n"): bytes.append(byte)
            case .byte, .end:
                guard let line = String(validating: bytes, as: UTF8.self) else {
                    throw CommandError("What was typed is not UTF-8: nothing is changed.")
                }
                return line
            }
        }
        prompt("\n")
        throw CommandError("Interrupted: nothing is changed.")
    }
}
