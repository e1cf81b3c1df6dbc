import EventLoop
import PresenceCore

@testable import PresenceServer

/// Tokens of the simulator: `ACCOUNT.END`, the end in milliseconds of the wall clock.
struct SimulatedAuthenticator: Authenticator {
    static func token(of account: String, until end: Int64) -> String { "\(account).\(end)" }

    func name(ofServerKey candidate: [UInt8]) -> String? { nil }

    func judge(_ token: [UInt8], at now: Wall) async -> Result<TokenHolder, CredentialFault> {
        verdict(on: token, at: now)
    }

    func verdict(on token: [UInt8], at now: Wall) -> Result<TokenHolder, CredentialFault> {
        let parts = token.split(separator: UInt8(ascii: "."))
        guard parts.count == 2, let end = Int64(String(decoding: parts[1], as: UTF8.self)) else {
            return .failure(.signature)
        }
        guard now.milliseconds < end else { return .failure(.expired) }
        let term = TokenTerm(
            expires: Wall(milliseconds: end), honouredUntil: Wall(milliseconds: end))
        return .success(TokenHolder(account: Array(parts[0]), term: term))
    }
}

/// Judges that take as long as the simulation wants.
final class SimulatedJudges: Judging {
    private var waiting: [Inquiry] = []

    var isIdle: Bool { waiting.isEmpty }

    func submit(_ inquiry: Inquiry, to authenticator: any Authenticator) {
        waiting.append(inquiry)
    }

    /// The verdict on one of those that wait; now and then the keys cannot be had.
    func judge(_ place: Int, isFailing: Bool) -> Verdict {
        let inquiry = waiting.remove(at: place % waiting.count)
        let verdict = SimulatedAuthenticator().verdict(on: inquiry.token, at: inquiry.shown)
        return Verdict(
            connection: inquiry.connection, network: inquiry.network, purpose: inquiry.purpose,
            result: isFailing ? .failure(.keysUnavailable) : verdict)
    }
}
