import Foundation
import Logging
import PresenceTokens

/// What stands in the files that settings name: read whole, and then in force or not at all.
struct KeyFiles: Sendable {
    /// The keys of app servers; none where no file is named.
    let serverKeys: [ServerKey]
    /// What whoever runs the service should know of these files.
    let warnings: [String]

    /// Reads the files.
    ///
    /// - Throws: which file, which line, and what would be right; never what stands there.
    init(_ settings: ServiceSettings) throws(SettingsRefusal) {
        guard let path = settings.serverKeyPath else {
            serverKeys = []
            warnings = []
            return
        }
        guard let content = FileManager.default.contents(atPath: path) else {
            throw SettingsRefusal("The file \(path) given with --server-key cannot be read.")
        }
        do throws(ServerKeyFileFault) {
            let file = try ServerKeyFile([UInt8](content))
            serverKeys = file.keys
            warnings = file.plainLines.map {
                "\(path):\($0): a server key stands there as it is: let `porchlight key NAME` "
                    + "make one"
            }
        } catch {
            throw SettingsRefusal("The file \(path) given with --server-key \(error)")
        }
    }

    /// Says what is to be said of these files.
    func warn(_ logger: Logger) {
        for warning in warnings { logger.warning("\(warning)") }
    }
}
