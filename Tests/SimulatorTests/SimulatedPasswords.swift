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

/// What was known of the password of an account, and since which change.
typealias KnownPassword = (state: SimulatedPasswords.State, version: Int)

/// What has become of a request with a password.
enum PasswordOutcome {
    case changed(account: String, password: String?)
    case rejected(account: String)
    case lost(account: String)
    case login(typed: String, known: KnownPassword, Bool)
    case registered(SimulatedXMPPClient.Registration)
    case nameTaken(SimulatedXMPPClient.Registration)
}

/// What the passwords of accounts must be, as far as clients have been told.
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
    /// How many changes of an account are not answered yet.
    private var pending: [String: Int] = [:]
    /// Accounts of which several changes were under way since there was none: which of them was
    /// carried out last is not known.
    private var entangled: Set<String> = []

    /// What is known of an account now; nil: nothing.
    func state(of account: String) -> KnownPassword? {
        let state = states[account] ?? .none
        guard state != .uncertain, !lost.contains(account) else { return nil }
        return (state, versions[account] ?? 0)
    }

    /// The password of an account, if it has one and that is known.
    func password(of account: String) -> String? {
        guard case .password(let password)? = state(of: account)?.state else { return nil }
        return password
    }

    /// A change was asked for.
    mutating func begin(_ account: String) {
        pending[account, default: 0] += 1
        if pending[account, default: 0] > 1 { entangled.insert(account) }
        put(.uncertain, account)
    }

    /// A change was answered; nil: what holds now is not known. Returns whether it is known that
    /// there was no other at the same time.
    @discardableResult mutating func end(_ account: String, _ state: State?) -> Bool {
        let isAlone = !entangled.contains(account) && !lost.contains(account)
        put(isAlone ? state ?? .uncertain : .uncertain, account)
        leave(account)
        return isAlone
    }

    /// A change was asked for, and its answer will not come.
    mutating func lose(_ account: String) {
        lost.insert(account)
        put(.uncertain, account)
        leave(account)
    }

    private mutating func leave(_ account: String) {
        let left = pending[account, default: 0] - 1
        precondition(left >= 0, "an answer to a change of \(account) that was not asked for")
        pending[account] = left
        if left == 0 { entangled.remove(account) }
    }

    /// Nothing is under way: what is stored holds.
    mutating func rest(_ stored: Set<String>) {
        lost = []
        // The request of a client that is gone may still be under way.
        let settled = states.filter { $0.value == .uncertain && pending[$0.key, default: 0] == 0 }
        for account in settled.keys where !stored.contains(account) {
            put(.none, account)
        }
    }

    private mutating func put(_ state: State, _ account: String) {
        states[account] = state
        versions[account, default: 0] += 1
    }
}
