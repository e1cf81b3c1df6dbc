import Dispatch
import EventLoop
public import PresenceCore

/// Who knows whether credentials hold. The service itself knows nothing of keys and signatures.
public protocol Authenticator: Sendable {
    /// What an app server's key is called in the log; nil where it is no key.
    ///
    /// Asked on the loop's thread: it must cost no more than microseconds, and not tell by the
    /// time it takes which key a candidate was near.
    func name(ofServerKey candidate: [UInt8]) -> String?

    /// Judges a token, as it came, by the wall clock's `now`. Asked on any thread but the loop's;
    /// it may take its time.
    ///
    /// An account that it gives keeps the protocol's rule for names.
    func judge(_ token: [UInt8], at now: Wall) async -> Result<TokenHolder, CredentialFault>
}

/// Whose a token is that holds, and for how long.
public struct TokenHolder: Hashable, Sendable {
    /// The account.
    public var account: [UInt8]
    /// How long it holds.
    public var term: TokenTerm

    /// A holder.
    public init(account: [UInt8], term: TokenTerm) {
        self.account = account
        self.term = term
    }
}

/// Who is believed.
public enum AccessMode: Sendable {
    /// Everybody, at his word; those who show a token or a key, by that.
    case open
    /// Those who show a token or a key.
    case credentials
}

/// A token that somebody waits to have judged.
struct Inquiry: Sendable {
    let connection: StreamID
    let token: [UInt8]
    /// When it was shown.
    let shown: Wall
    let purpose: Purpose

    /// What it is to be good for.
    enum Purpose: Sendable {
        case login(device: [UInt8], client: ClientKind, reach: Reach, sync: LoginList)
        case refresh
    }
}

/// What has become of an inquiry.
struct Verdict: Sendable {
    let connection: StreamID
    let purpose: Inquiry.Purpose
    let result: Result<TokenHolder, CredentialFault>
}

/// Has tokens judged away from the loop; the verdicts come back through the mailbox.
///
/// On a thread of its own, one after the other but for those that wait for a key: so many logins
/// take one core at most, and do not wait for whoever blocks the threads that all tasks share.
final class TokenJudges: Sendable {
    private let mailbox: Mailbox
    private let thread = TaskThread(name: "porchlight.tokens")

    init(_ mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    func submit(_ inquiry: Inquiry, to authenticator: any Authenticator) {
        Task(executorPreference: thread) {
            let result = await authenticator.judge(inquiry.token, at: inquiry.shown)
            self.mailbox.post(
                Verdict(
                    connection: inquiry.connection, purpose: inquiry.purpose, result: result))
        }
    }
}

/// Runs tasks one at a time, on one thread at a time.
private final class TaskThread: TaskExecutor {
    private let queue: DispatchQueue

    init(name: String) {
        queue = DispatchQueue(label: name)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
