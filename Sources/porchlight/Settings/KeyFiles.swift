import CommandSupport
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
        let ofTokens = Result { () throws(SettingsError) in
            try Self.tokenKeys(settings, occasion)
        }
        let ofServers = Result { () throws(SettingsError) in
            try Self.serverKeys(settings, occasion)
        }
        let messages = ofTokens.messages + ofServers.messages
        guard messages.isEmpty else { throw SettingsError(messages) }
        tokenKeys = try ofTokens.get()
        let file = try ofServers.get()
        serverKeys = file?.keys ?? []
        warnings =
            Self.warnings(tokenKeys, settings)
            + (file.map { Self.warnings($0, settings) } ?? Self.warningsWithoutKeys(settings))
            + (settings.push.keyPath.map {
                Self.warnings(ofSecretIn: $0, settings.places["push-key"])
            } ?? [])
    }

    private static func serverKeys(
        _ settings: ServiceSettings, _ occasion: ReadOccasion
    ) throws(SettingsError) -> ServerKeyFile? {
        guard let path = settings.serverKeyPath else { return nil }
        let place = settings.places["server-key"]
        let content = try readSecretFile(path, place, occasion)
        do throws(ServerKeyFileError) {
            return try ServerKeyFile(content)
        } catch {
            throw SettingsError("The file \(path) \(place) \(error)")
        }
    }

    private static func tokenKeys(
        _ settings: ServiceSettings, _ occasion: ReadOccasion
    ) throws(SettingsError) -> TokenKeys {
        guard let source = settings.tokenKeyPlace else { return .none }
        let place = settings.places["jwt-key"]
        if KeyURL.looksLikeURL(source) {
            do throws(KeyURLError) {
                return .published(try KeyURL(source))
            } catch {
                throw SettingsError("The URL \(place) is not allowed: \(error).")
            }
        }
        let content = try readSecretFile(source, place, occasion)
        switch waitFor({ await KeySet.read(content) }) {
        case .success(let keys): return .inFile(keys)
        case .failure(let error): throw SettingsError("The file \(source) \(place) \(error)")
        }
    }

    /// A reader of a secret can sign tokens; public keys are not secret.
    private static func warnings(_ keys: TokenKeys, _ settings: ServiceSettings) -> [String] {
        guard let path = settings.tokenKeyPlace, case .inFile(let keys) = keys else { return [] }
        return keys.skipped.map { "\(path): token key ignored: \($0)" }
            + (keys.holdsSecret ? warnings(ofSecretIn: path, settings.places["jwt-key"]) : [])
    }

    private static func warnings(_ file: ServerKeyFile, _ settings: ServiceSettings) -> [String] {
        let path = settings.serverKeyPath ?? ""
        let ofLines = file.plainLines.map {
            "\(path):\($0) is a server key in clear text: use a hash, as `porchlight key NAME` "
                + "prints it"
        }
        return ofLines
            + (ofLines.isEmpty ? [] : warnings(ofSecretIn: path, settings.places["server-key"]))
            + warnings(settings)
    }

    /// Not an error, as it is for a private key of TLS: containers mount secrets so.
    private static func warnings(ofSecretIn path: String, _ place: String) -> [String] {
        guard isReadableByAll(path) else { return [] }
        return [
            "the file \(path) \(place) holds a secret and can be read by all users: chmod 640 it"
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
