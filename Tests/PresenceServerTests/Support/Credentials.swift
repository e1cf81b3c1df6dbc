import Dispatch
import Foundation
import PresenceCore
import PresenceServer
import Synchronization
import Testing

/// Credentials that a test decides about.
struct Credentials: Authenticator {
    /// Names of server keys, by key.
    var serverKeys: [String: String] = [:]
    /// Of those that may only read.
    var readingKeys: [String: String] = [:]
    /// Accounts, by token; each holds for ten minutes from when it is shown, and 30 s.
    var tokens: [String: String] = [:]
    /// What is wrong with others.
    var error = CredentialError.signature
    /// Where judges wait.
    var gate: Gate?

    static let lifeMilliseconds: Int64 = 600_000

    func appServer(withKey candidate: [UInt8]) -> AppServerKey? {
        let key = String(decoding: candidate, as: UTF8.self)
        return serverKeys[key].map { AppServerKey(name: $0) }
            ?? readingKeys[key].map { AppServerKey(name: $0, rights: .reading) }
    }

    func verify(_ token: [UInt8], at now: Wall) async -> Result<TokenHolder, CredentialError> {
        await gate?.pass()
        guard let account = tokens[String(decoding: token, as: UTF8.self)] else {
            return .failure(error)
        }
        let end = now.milliseconds + Self.lifeMilliseconds
        let term = TokenTerm(
            expires: Wall(milliseconds: end), honouredUntil: Wall(milliseconds: end + 30_000))
        return .success(TokenHolder(account: Array(account.utf8), term: term))
    }
}

/// Takes every token, for an account that is called like the thread.
struct ThreadNamer: Authenticator {
    func appServer(withKey candidate: [UInt8]) -> AppServerKey? { nil }

    func verify(_ token: [UInt8], at now: Wall) async -> Result<TokenHolder, CredentialError> {
        let end = Wall(milliseconds: now.milliseconds + 600_000)
        let name = FileManager.default.contents(atPath: "/proc/thread-self/comm") ?? Data()
        return .success(
            TokenHolder(
                account: name.filter { $0 != UInt8(ascii: "\n") },
                term: TokenTerm(expires: end, honouredUntil: end)))
    }
}

/// Holds whoever comes until it is opened.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// Waits until somebody has come to the closed gate.
    func awaitArrival() {
        #expect(arrivals.wait(timeout: .now() + 60) == .success, "nobody came to the gate")
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() } else { arrivals.signal() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = State(isOpen: true) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func close() {
        state.withLock { $0.isOpen = false }
    }
}
