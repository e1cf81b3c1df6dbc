import Logging
import OutgoingHTTP
import PresenceCore
import PresenceServer
import PresenceTokens

/// Verifies credentials for the service.
struct CredentialAuthenticator: Authenticator {
    let keys: KeyRing
    /// Verifies tokens; nil: none are accepted.
    private let verifier: TokenVerifier?

    /// Uses these keys; those at a URL are fetched from now on.
    init(
        _ files: KeyFiles, _ rules: TokenRules, over http: OutgoingHTTP, logger: Logger
    ) {
        keys = KeyRing(files.serverKeys)
        switch files.tokenKeys {
        case .none:
            verifier = nil
        case .inFile(let keys):
            verifier = TokenVerifier(keys: keys, rules: rules)
        case .published(let url):
            let source = KeySource(url: url, over: http, logger: logger)
            verifier = TokenVerifier(fetching: source, rules: rules)
            source.keepFresh()
        }
    }

    /// Uses these keys from now on. Those at a URL are refreshed anyway.
    func replace(with files: KeyFiles) {
        keys.replace(with: files.serverKeys)
        if case .inFile(let keys) = files.tokenKeys { verifier?.replace(keys: keys) }
    }

    func appServer(withKey candidate: [UInt8]) -> AppServerKey? {
        keys.key(candidate).map { key in
            AppServerKey(name: key.name, rights: key.isReadOnly ? .reading : .all)
        }
    }

    func verify(_ token: [UInt8], at now: Wall) async -> Result<TokenHolder, CredentialError> {
        guard let verifier else { return .failure(.tokensNotTaken) }
        do throws(CredentialError) {
            let verified = try await verifier.verify(token, at: now.milliseconds)
            let term = TokenTerm(
                expires: Wall(milliseconds: verified.expires),
                honouredUntil: Wall(milliseconds: verified.acceptedUntil))
            return .success(TokenHolder(account: Array(verified.account.utf8), term: term))
        } catch {
            return .failure(error)
        }
    }
}
