import EventLoop

/// Compares passwords and derives keys on a thread of its own; the results arrive in the mailbox.
///
/// One after the other: so all logins take one core at most.
final class PasswordThread: PasswordDeriving, Sendable {
    private let mailbox: Mailbox
    private let thread = WorkThread(name: "passwords")

    init(_ mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    func submit(_ work: PasswordWork) {
        thread.add { [mailbox] in mailbox.post(work.result()) }
    }
}
