import Containers
import EventLoop
public import PresenceCore

/// Verifies credentials. The service itself knows nothing of keys and signatures.
public protocol Authenticator: Sendable {
    /// The app server that has this key; nil if the key is unknown.
    ///
    /// Called on the engine host's thread: it must take no more than microseconds, and its duration
    /// must not reveal how close a candidate is to a key.
    func appServer(withKey candidate: [UInt8]) -> AppServerKey?

    /// Verifies a token at the wall clock's `now`. It may block: it is called on no thread of the
    /// engine host or of a connection loop.
    ///
    /// An account that it returns satisfies the protocol's rule for names.
    func verify(_ token: [UInt8], at now: Wall) async -> Result<TokenHolder, CredentialError>
}

/// The key of an app server.
public struct AppServerKey: Hashable, Sendable {
    /// Its name, for the log.
    public var name: String
    /// What an app server may do with it.
    public var rights: AppServerRights

    /// A key.
    public init(name: String, rights: AppServerRights = .all) {
        self.name = name
        self.rights = rights
    }
}

/// The account of a valid token, and how long the token is valid.
public struct TokenHolder: Hashable, Sendable {
    /// The account.
    public var account: [UInt8]
    /// How long the token is valid.
    public var term: TokenTerm

    /// A holder.
    public init(account: [UInt8], term: TokenTerm) {
        self.account = account
        self.term = term
    }
}

/// Which credentials are required.
public enum AccessMode: Sendable {
    /// Claimed identities are accepted; credentials are verified if presented.
    case open
    /// A token or a key is required.
    case credentials
}

/// Whether accounts may log in with a password that is stored here.
public enum PasswordUse: Sendable {
    case none
    /// Or with a token.
    case besideTokens
    /// And with nothing else.
    case only
}

/// A token that a request waits to have verified.
struct TokenRequest: Sendable {
    let connection: ConnectionID
    /// The network that limits per address count as one.
    let network: ClientNetwork?
    let token: [UInt8]
    /// When it was presented.
    let shown: Wall
    let purpose: Purpose

    /// What the request is.
    enum Purpose: Sendable {
        case login(DeviceLogin)
        case refresh
        /// That of an XMPP client, which begins a session later.
        case authentication(account: [UInt8])
    }
}

/// A token that has been verified.
struct TokenResult: Sendable {
    let connection: ConnectionID
    let network: ClientNetwork?
    let purpose: TokenRequest.Purpose
    let result: Result<TokenHolder, CredentialError>
}

/// Has tokens verified on a thread of its own; the results arrive in the mailbox.
///
/// One after the other, except those that wait for a key: so all logins take one core at most, and
/// do not wait for tasks that block the threads that all tasks share.
final class TokenThread: TokenVerifying, Sendable {
    private let mailbox: Mailbox
    private let thread = WorkThread(name: "tokens")

    init(_ mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    func submit(_ request: TokenRequest, to authenticator: any Authenticator) {
        Task(executorPreference: thread) {
            let result = await authenticator.verify(request.token, at: request.shown)
            self.mailbox.post(
                TokenResult(
                    connection: request.connection, network: request.network,
                    purpose: request.purpose, result: result))
        }
    }
}
