import Logging
import PresenceTokens

/// The content of the key files that settings name. It takes effect whole or not at all.
struct KeyFiles: Sendable {
    /// The keys of app servers; empty if no file is named.
    let serverKeys: [ServerKey]
    /// The keys that tokens are checked with.
    let tokenKeys: TokenKeys
    /// What the operator should know about these files.
    let warnings: [String]

    /// Where the keys for tokens come from.
    enum TokenKeys: Sendable {
        case none
        case inFile(KeySet)
        case published(KeyURL)
    }

    /// Reads the files. A URL is fetched later, since it may not be reachable now.
    ///
    /// - Throws: which file, which line, and what would be right; never the content.
    init(
        _ settings: ServiceSettings, _ occasion: ReadOccasion = .startup
    ) throws(SettingsError) {
        tokenKeys = try Self.tokenKeys(settings.tokenKeyPlace, occasion)
        let ofTokens = Self.warnings(tokenKeys, at: settings.tokenKeyPlace)
        guard let path = settings.serverKeyPath else {
            serverKeys = []
            warnings = ofTokens + Self.warningsWithoutKeys(settings)
            return
        }
        let content = try readSecretFile(path, givenWith: "--server-key", occasion)
        do throws(ServerKeyFileError) {
            let file = try ServerKeyFile(content)
            serverKeys = file.keys
            warnings =
                ofTokens
                + file.plainLines.map {
                    "\(path):\($0) is a server key in clear text: use a hash, as `porchlight key "
                        + "NAME` prints it"
                } + (file.plainLines.isEmpty ? [] : Self.warnings(ofSecretIn: path, "--server-key"))
                + Self.warnings(settings)
        } catch {
            throw SettingsError("The file \(path) given with --server-key \(error)")
        }
    }

    private static func tokenKeys(
        _ place: String?, _ occasion: ReadOccasion
    ) throws(SettingsError) -> TokenKeys {
        guard let place else { return .none }
        if KeyURL.looksLikeURL(place) {
            do throws(KeyURLError) {
                return .published(try KeyURL(place))
            } catch {
                throw SettingsError("The URL given with --jwt-key is not allowed: \(error).")
            }
        }
        let content = try readSecretFile(place, givenWith: "--jwt-key", occasion)
        switch waitFor({ await KeySet.read(content) }) {
        case .success(let keys): return .inFile(keys)
        case .failure(let fault):
            throw SettingsError("The file \(place) given with --jwt-key \(fault)")
        }
    }

    /// A reader of a secret can sign tokens; public keys are not secret.
    private static func warnings(_ keys: TokenKeys, at place: String?) -> [String] {
        guard let place, case .inFile(let keys) = keys, keys.holdsSecret else { return [] }
        return warnings(ofSecretIn: place, "--jwt-key")
    }

    /// Not an error, as it is for a private key of TLS: containers mount secrets so.
    private static func warnings(ofSecretIn path: String, _ flag: String) -> [String] {
        guard isReadableByAll(path) else { return [] }
        return [
            "the file \(path) given with \(flag) holds a secret and can be read by all users: "
                + "chmod 640 it"
        ]
    }

    /// Keys lock the HTTP API only, unless the native port asks for credentials, too.
    private static func warnings(_ settings: ServiceSettings) -> [String] {
        guard settings.auth == .open else { return [] }
        return [
            "server keys are set, and auth is open: the native port (\(settings.listen)) accepts "
                + "app servers without a key; --auth jwt or password makes it require one"
        ]
    }

    /// Passwords are set by app servers, which need a key, or over HTTP, or by who registers.
    private static func warningsWithoutKeys(_ settings: ServiceSettings) -> [String] {
        let canBeSet = settings.servesHTTP || settings.xmpp.allowsRegistration
        guard settings.auth == .password, !canBeSet else { return [] }
        return [
            "auth is password, and no password can be set: give app servers a key with "
                + "--server-key, or let XMPP clients register with --xmpp-registration"
        ]
    }

    /// What the log says about the keys of tokens at the start and after a reload: a file that was
    /// meant as a public key must not pass for a secret unnoticed.
    var logged: Logger.Metadata {
        switch tokenKeys {
        case .none: [:]
        case .inFile(let keys): ["jwt-key": "\(keys.summary)"]
        case .published(let url): ["jwt-key": "keys at \(url.text)"]
        }
    }

    /// The warnings that did not apply to the files before.
    func warnings(notIn before: KeyFiles?) -> [String] {
        warnings.filter { before?.warnings.contains($0) != true }
    }

    /// Logs the warnings; after a reload, only new ones.
    func warn(_ logger: Logger, before: KeyFiles? = nil) {
        for warning in warnings(notIn: before) { logger.warning("\(warning)") }
    }
}

extension KeySet {
    /// The keys in a file, or what is wrong with it.
    fileprivate static func read(_ content: [UInt8]) async -> Result<KeySet, TokenKeyError> {
        do throws(TokenKeyError) {
            return .success(try await KeySet(file: content))
        } catch {
            return .failure(error)
        }
    }
}
