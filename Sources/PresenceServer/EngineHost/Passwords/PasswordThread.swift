import Dispatch

/// Compares passwords and derives keys on a thread of its own; the results come back through the
/// mailbox.
///
/// One after the other: so many logins take one core at most.
final class PasswordThread: PasswordDeriving, Sendable {
    private let mailbox: Mailbox
    private let queue = DispatchQueue(label: "porchlight.passwords")

    init(_ mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    func submit(_ work: PasswordWork) {
        queue.async { [mailbox] in mailbox.post(work.result()) }
    }
}
