import PresenceCore
import PresenceServer

/// Credentials that a test decides about.
struct Credentials: Authenticator {
    /// Names of server keys, by key.
    var serverKeys: [String: String] = [:]

    func name(ofServerKey candidate: [UInt8]) -> String? {
        serverKeys[String(decoding: candidate, as: UTF8.self)]
    }
}
