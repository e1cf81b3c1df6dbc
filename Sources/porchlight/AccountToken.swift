import ArgumentParser
import CommandSupport
import PresenceClient
import PresenceTokens

/// A token that a verb logs in with.
struct AccountToken {
    let text: String
    /// Where it was found, such as `the file bob.token given with --token-file`.
    let place: String

    /// The account that it names; nil if that cannot be read here.
    var account: String? { claimedAccount(inToken: Array(text.utf8)) }
}

/// The account that a verb logs in as.
struct ChosenAccount {
    /// What was typed; nil: nothing.
    let name: String?
    /// The option that it is typed behind, such as `--account`.
    let flag: String
    /// The account if there is neither a name nor a token; nil: one must be given.
    let standard: String?

    init(name: String?, by flag: String, standard: String? = nil) {
        self.name = name
        self.flag = flag
        self.standard = standard
    }

    /// Throws if the token is of another account than the one that was typed.
    func check(_ account: String, of token: AccountToken) throws {
        // Byte by byte, as the service does; `==` would treat two encodings of é as equal.
        guard let name, !name.utf8.elementsEqual(account.utf8) else { return }
        let typed = visible(name)
        throw CommandError(
            "\(flag) is \(typed), and the token in \(token.place) is for \(visible(account)): "
                + "give a token for \(typed), or omit \(flag).")
    }

    /// Adds to a rejection that another account would not meet which account it is of, and what
    /// to do.
    ///
    /// - Parameter account: the account that logs in; nil if only the service can read its token.
    func whileLoggingIn<T>(as account: String?, _ login: () throws -> T) throws -> T {
        do {
            return try login()
        } catch let error as ClientError {
            guard case .rejected(let reply) = error, reply.reason == "session_quota" else {
                throw error
            }
            let owner = account.map { "\(visible($0)) cannot log in. " } ?? ""
            throw CommandError(
                "\(owner)\(error.description) Log out one of its sessions, or give another account "
                    + "with \(flag).")
        }
    }
}

/// Checks a name that was typed for an account.
///
/// - Parameter bytesMax: the longest name; nil: the longest that any service may be set to take.
///   The service's own limit may be lower; it says so when it is exceeded.
func checkAccountName(_ name: String, as label: String, bytesMax: Int? = nil) throws {
    var rules = Token.rules
    rules.accountBytesMax = bytesMax ?? rules.accountBytesMax
    guard rules.isAccount(name) else {
        throw ValidationError(
            "\(label) “\(cut(name))” is not an account name: give 1 to "
                + "\(rules.accountBytesMax) bytes without control characters and without a "
                + "space at either end.")
    }
}
