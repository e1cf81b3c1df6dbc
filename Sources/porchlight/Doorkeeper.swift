import PresenceServer
import PresenceTokens

/// Tells the service whether credentials hold.
struct Doorkeeper: Authenticator {
    let keys: KeyRing

    func name(ofServerKey candidate: [UInt8]) -> String? { keys.name(of: candidate) }
}
