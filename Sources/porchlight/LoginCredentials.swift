import PresenceClient

/// What a verb logs in with, in the words of its options: the service can only name the parameters
/// of its protocol.
enum LoginCredentials {
    /// The name of an account, without a token.
    case accountName
    /// A token.
    case token(AccountToken)
    /// Being an app server, without a key.
    case appServer
    /// The key in this file.
    case key(path: String)

    /// Explains credentials that the service rejects.
    func whileLoggingIn<T>(_ login: () throws -> T) throws -> T {
        do {
            return try login()
        } catch let error as ClientError {
            guard case .refused(let reply) = error, reply.code == 401 else { throw error }
            guard reply.reason != "invalid_password" else {
                throw CommandError(
                    "This service requires a password to log in as an account, which this command "
                        + "cannot send. `query`, `why`, `top` and `stats` work with --server-key. "
                        + "(401)")
            }
            throw CommandError(sentence(for: error))
        }
    }

    private func sentence(for error: ClientError) -> String {
        switch self {
        case .accountName:
            "This service requires a token to log in as an account: give a file with one as "
                + "--token-file, or set PORCHLIGHT_TOKEN. (401)"
        case .token(let token):
            "\(error.description) The token is in \(token.place)."
        case .appServer:
            "This service requires a server key: give the file with it as --server-key. (401)"
        case .key(let path):
            "The key in the file \(path) given with --server-key is not a key of this service. "
                + "(401)"
        }
    }
}
