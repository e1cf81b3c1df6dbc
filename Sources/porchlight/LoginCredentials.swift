import CommandSupport
import PresenceClient

/// What a verb logs in with, in the words of its options: the service can only name the parameters
/// of its protocol.
enum LoginCredentials {
    /// The name of an account, without a token or a password; the option that it is typed behind.
    case accountName(flag: String)
    /// A token.
    case token(AccountToken)
    /// The name of an account and the password in this file.
    case password(path: String)
    /// Being an app server, without a key.
    case appServer
    /// The key in this file.
    case key(path: String)

    /// Explains credentials that the service rejects.
    func whileLoggingIn<T>(_ login: () throws -> T) throws -> T {
        do {
            return try login()
        } catch let error as ClientError {
            guard case .rejected(let reply) = error, reply.code == 401 else { throw error }
            throw CommandError(
                sentence(for: error, isOfPassword: reply.reason == "invalid_password"))
        }
    }

    private func sentence(for error: ClientError, isOfPassword: Bool) -> String {
        switch self {
        case .accountName(let flag) where isOfPassword:
            "This service requires a password to log in as an account: give the account as "
                + "\(flag), and a file with its password as --password-file. (401)"
        case .accountName:
            "This service requires a token to log in as an account: give a file with one as "
                + "--token-file, or set PORCHLIGHT_TOKEN. (401)"
        case .token(let token):
            "\(error.description) The token is in \(token.place)."
        case .password(let path):
            "\(error.description) The password is in the file \(path) given with --password-file."
        case .appServer:
            "This service requires a server key: give the file with it as --server-key. (401)"
        case .key(let path):
            "The key in the file \(path) given with --server-key is not a key of this service. "
                + "(401)"
        }
    }
}
