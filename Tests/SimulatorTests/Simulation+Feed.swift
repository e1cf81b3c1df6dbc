import PresenceClient
import PresenceCore

@testable import PresenceServer

// Backends that read the feed, and what must hold for them.

extension Simulation {
    /// The table of a backend is the truth: what it has not is offline and without a status.
    func checkTable(_ client: SimulatedClient, _ auditor: SimulatedCaller) {
        guard client.stream != nil, client.isLoggedIn, !client.isDead else { return }
        guard client.table.isComplete else { return violation("a table that is not complete") }
        for type in Self.types {
            let result = answer(
                auditor, .query,
                [
                    "type": .integer(type),
                    "accounts": .array(accounts.map { .string($0) }),
                ])
            for truth in result?["states"]?.array ?? [] {
                let key = "\(type)/\(truth["publisher"]?.string ?? "")"
                let known = client.table.states[key]
                compare(key, known, truth)
            }
        }
    }

    private func compare(_ key: String, _ known: JSON?, _ truth: JSON) {
        let online = devices(truth)
        if devices(known) != online {
            violation("a table has \(devices(known)) online for \(key), and it is \(online)")
        }
        if known?["status"]?["value"] != truth["status"]?["value"] {
            violation(
                "a table has the status \(known?["status"]?.text ?? "-") for \(key), and it is "
                    + "\(truth["status"]?.text ?? "-")")
        }
        // The feed does not tell of those who are forgotten.
        let isForgotten = online.isEmpty && truth["lastSeen"] == nil
        // Nothing is said at a reset of those who are offline and have no status.
        if let known, !isForgotten, known["lastSeen"] != truth["lastSeen"] {
            violation(
                "a table has lastSeen \(known["lastSeen"]?.text ?? "-") for \(key), and it is "
                    + "\(truth["lastSeen"]?.text ?? "-")")
        }
    }

    /// Over a restart the order of logins takes the place of the order of sessions.
    private func devices(_ state: JSON?) -> [String] {
        (state?["online"]?.array ?? []).map(\.text).sorted()
    }

    /// Whether every reader has everything.
    var areTablesComplete: Bool {
        clients.allSatisfy {
            $0.role != .feedReader || $0.stream == nil || $0.isDead || $0.table.isComplete
        }
    }
}
