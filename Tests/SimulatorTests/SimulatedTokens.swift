import EventLoop
import PresenceCore

@testable import PresenceServer

/// Tokens of the simulator: `ey.ACCOUNT.END`, the end in milliseconds of the wall clock. They begin
/// as those of JWT do, so that XMPP clients do not show them as passwords.
struct SimulatedAuthenticator: Authenticator {
    static func token(of account: String, until end: Int64) -> String { "ey.\(account).\(end)" }

    static let serverKey = "a key of a backend"

    func appServer(withKey candidate: [UInt8]) -> AppServerKey? {
        candidate == Array(Self.serverKey.utf8) ? AppServerKey(name: "backend") : nil
    }

    func verify(_ token: [UInt8], at now: Wall) async -> Result<TokenHolder, CredentialError> {
        result(for: token, at: now)
    }

    func result(for token: [UInt8], at now: Wall) -> Result<TokenHolder, CredentialError> {
        let parts = token.split(separator: UInt8(ascii: "."))
        guard parts.count == 3, let end = Int64(String(decoding: parts[2], as: UTF8.self)) else {
            return .failure(.signature)
        }
        guard now.milliseconds < end else { return .failure(.expired) }
        let term = TokenTerm(
            expires: Wall(milliseconds: end), honouredUntil: Wall(milliseconds: end))
        return .success(TokenHolder(account: Array(parts[1]), term: term))
    }
}

/// Verifies tokens, as late as the simulation wants.
final class SimulatedVerifier: TokenVerifying {
    private var waiting: [TokenRequest] = []

    var isIdle: Bool { waiting.isEmpty }

    func submit(_ request: TokenRequest, to authenticator: any Authenticator) {
        waiting.append(request)
    }

    /// Verifies one of those that wait; now and then the keys cannot be fetched.
    func verify(_ place: Int, isFailing: Bool) -> TokenResult {
        let request = waiting.remove(at: place % waiting.count)
        let result = SimulatedAuthenticator().result(for: request.token, at: request.shown)
        return TokenResult(
            connection: request.connection, network: request.network, purpose: request.purpose,
            result: isFailing ? .failure(.keysUnavailable) : result)
    }
}
