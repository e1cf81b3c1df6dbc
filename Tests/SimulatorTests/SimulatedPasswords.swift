import Passwords
import PresenceClient

@testable import PresenceServer

/// Compares passwords and derives keys, as late as the simulation wants.
final class SimulatedPasswordThread: PasswordDeriving {
    private var waiting: [PasswordWork] = []

    var isIdle: Bool { waiting.isEmpty }

    func submit(_ work: PasswordWork) { waiting.append(work) }

    /// Does one of what waits.
    func result(_ place: Int) -> PasswordResult {
        waiting.remove(at: place % waiting.count).result()
    }
}

/// What the passwords of accounts must be, as far as app servers have been told.
struct SimulatedPasswords {
    enum State: Equatable {
        case password(String)
        case none
        /// A change of it may be made or not.
        case uncertain
    }

    private var states: [String: State] = [:]
    /// How often what is known of an account has changed.
    private var versions: [String: Int] = [:]
    /// Accounts of which a request for a change was lost: it may be carried out later.
    private var lost: Set<String> = []

    /// What is known of an account now; nil: nothing.
    func state(of account: String) -> (state: State, version: Int)? {
        let state = states[account] ?? .none
        guard state != .uncertain, !lost.contains(account) else { return nil }
        return (state, versions[account] ?? 0)
    }

    /// A change was asked for.
    mutating func begin(_ account: String) { put(.uncertain, account) }

    /// A change was acknowledged. Another may be under way: then nothing is known.
    mutating func end(_ account: String, _ state: State, isAlone: Bool) {
        put(isAlone ? state : .uncertain, account)
    }

    /// A change was asked for, and its answer will not come.
    mutating func lose(_ account: String) {
        lost.insert(account)
        put(.uncertain, account)
    }

    /// Nothing is under way: what is stored holds.
    mutating func rest(_ stored: Set<String>) {
        lost = []
        for (account, state) in states where state == .uncertain && !stored.contains(account) {
            put(.none, account)
        }
    }

    private mutating func put(_ state: State, _ account: String) {
        states[account] = state
        versions[account, default: 0] += 1
    }
}
