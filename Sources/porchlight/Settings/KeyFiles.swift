import Foundation
import Logging
import PresenceTokens

/// What stands in the files that settings name: read whole, and then in force or not at all.
struct KeyFiles: Sendable {
    /// The keys of app servers; none where no file is named.
    let serverKeys: [ServerKey]
    /// What tokens are checked with.
    let tokenKeys: TokenKeys
    /// What whoever runs the service should know of these files.
    let warnings: [String]

    /// Where the keys for tokens are.
    enum TokenKeys: Sendable {
        case none
        case inFile(KeySet)
        case published(KeyURL)
    }

    /// Reads the files. What a URL has is fetched later, since it may be away.
    ///
    /// - Throws: which file, which line, and what would be right; never what stands there.
    init(_ settings: ServiceSettings) throws(SettingsRefusal) {
        tokenKeys = try Self.tokenKeys(settings.tokenKeyPlace)
        guard let path = settings.serverKeyPath else {
            serverKeys = []
            warnings = []
            return
        }
        let content = try Self.content(of: path, givenWith: "--server-key")
        do throws(ServerKeyFileFault) {
            let file = try ServerKeyFile(content)
            serverKeys = file.keys
            warnings = file.plainLines.map {
                "\(path):\($0): a server key stands there as it is: let `porchlight key NAME` "
                    + "make one"
            }
        } catch {
            throw SettingsRefusal("The file \(path) given with --server-key \(error)")
        }
    }

    private static func tokenKeys(_ place: String?) throws(SettingsRefusal) -> TokenKeys {
        guard let place else { return .none }
        if KeyURL.isMeant(by: place) {
            guard let url = KeyURL(place) else {
                throw SettingsRefusal(
                    "The URL given with --jwt-key is none for keys: it must begin with https, "
                        + "unless it is on this machine, and hold no password.")
            }
            return .published(url)
        }
        let content = try content(of: place, givenWith: "--jwt-key")
        switch waitFor({ await KeySet.read(content) }) {
        case .success(let keys): return .inFile(keys)
        case .failure(let fault):
            throw SettingsRefusal("The file \(place) given with --jwt-key \(fault)")
        }
    }

    private static func content(
        of path: String, givenWith flag: String
    ) throws(SettingsRefusal) -> [UInt8] {
        guard let content = FileManager.default.contents(atPath: path) else {
            throw SettingsRefusal("The file \(path) given with \(flag) cannot be read.")
        }
        return [UInt8](content)
    }

    /// Says what is to be said of these files.
    func warn(_ logger: Logger) {
        for warning in warnings { logger.warning("\(warning)") }
    }
}

extension KeySet {
    /// The keys in a file, or why not.
    fileprivate static func read(_ content: [UInt8]) async -> Result<KeySet, TokenKeyFault> {
        do throws(TokenKeyFault) {
            return .success(try await KeySet(file: content))
        } catch {
            return .failure(error)
        }
    }
}
