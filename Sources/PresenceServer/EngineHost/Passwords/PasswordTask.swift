import Passwords
import PresenceCore
import PresenceStore

/// Something for which the stored keys of an account are needed.
///
/// Its steps, each on another thread: the keys are read; then what was typed is compared with them,
/// or new keys are derived; then these are stored.
struct PasswordTask: Sendable {
    /// The connection that waits for it.
    var connection: ConnectionID
    var account: [UInt8]
    var origin: ConnectionOrigin
    var goal: Goal

    enum Goal: Sendable {
        /// Log in with what was typed.
        case logIn(typed: [UInt8], TokenRequest.Purpose)
        /// Send an XMPP client the challenge of SCRAM.
        case challenge
        /// Give an account a password that has none.
        case register(Password)
        /// Give an account this password.
        case set(Password)
        /// Take its password from an account.
        case remove

        /// Whether it changes what is stored.
        var isChange: Bool {
            switch self {
            case .logIn, .challenge: false
            case .register, .set, .remove: true
            }
        }
    }
}

/// The part of a task that takes a processor for a while.
struct PasswordWork: Sendable {
    /// The number of the task.
    var number: UInt64
    var kind: Kind

    enum Kind: Sendable {
        case compare(typed: [UInt8], StoredKeys)
        case derive(Password)
    }

    /// Does it: a third of a millisecond for each hash function.
    func result() -> PasswordResult {
        switch kind {
        case .compare(let typed, let keys):
            return PasswordResult(number: number, kind: .compared(keys.matches(typed: typed)))
        case .derive(let password):
            var random = SystemRandomNumberGenerator()
            let keys = StoredKeys(of: password, using: &random)
            return PasswordResult(number: number, kind: .derived(keys))
        }
    }
}

/// What has become of a `PasswordWork`.
struct PasswordResult: Sendable {
    var number: UInt64
    var kind: Kind

    enum Kind: Sendable {
        case compared(Bool)
        case derived(StoredKeys)
    }
}

/// What is known of passwords when the service starts.
struct StoredPasswords: Sendable {
    /// Accounts that have one.
    var count = 0
    /// Of this database alone; it makes the decoys.
    var secret: [UInt8] = []
}

extension StoredKeys {
    /// The keys in a row; nil if they cannot be right.
    init?(_ row: CredentialRow) {
        self.init(
            salt: row.salt, iterations: Int(row.iterations), storedSHA1: row.storedSHA1,
            serverSHA1: row.serverSHA1, storedSHA256: row.storedSHA256,
            serverSHA256: row.serverSHA256)
    }
}

extension CredentialRow {
    /// The row of an account with these keys.
    init(account: [UInt8], _ keys: StoredKeys, created: Wall) {
        self.init(account: account)
        iterations = Int32(clamping: keys.iterations)
        salt = keys.salt
        storedSHA1 = keys.keys(for: .sha1).stored
        serverSHA1 = keys.keys(for: .sha1).server
        storedSHA256 = keys.keys(for: .sha256).stored
        serverSHA256 = keys.keys(for: .sha256).server
        self.created = created.milliseconds
    }
}
