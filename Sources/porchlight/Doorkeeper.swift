import Foundation
import Logging
import PresenceServer
import PresenceTokens

/// Tells the service whether credentials hold.
struct Doorkeeper: Authenticator {
    let keys: KeyRing

    func name(ofServerKey candidate: [UInt8]) -> String? { keys.name(of: candidate) }
}

/// The keys in the file of `--server-key`; none where there is no file.
///
/// - Throws: which file, which line, and what would be right.
func readServerKeys(from path: String?, logger: Logger) throws -> [ServerKey] {
    guard let path else { return [] }
    guard let content = FileManager.default.contents(atPath: path) else {
        throw Failure("The file \(path) given with --server-key cannot be read.")
    }
    let file: ServerKeyFile
    do {
        file = try ServerKeyFile([UInt8](content))
    } catch {
        throw Failure("The file \(path) given with --server-key \(error)")
    }
    for line in file.plainLines {
        logger.warning(
            "a server key stands in its file as it is: let `porchlight key NAME` make one",
            metadata: ["file": "\(path)", "line": "\(line)"])
    }
    return file.keys
}
