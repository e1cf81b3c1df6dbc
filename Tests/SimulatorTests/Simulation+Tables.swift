import PresenceClient
import PresenceCore
import PresenceStore

@testable import PresenceServer

// What must hold at a quiet time between the engine, the disk and the settings.

extension Simulation {
    /// The disk holds what the engine does, and nothing else.
    func checkDisk(_ auditor: SimulatedCaller) {
        // One that lies is to be found out from outside.
        guard disk.canary == .none else { return }
        for account in accounts {
            let name = Array(account.utf8)
            let list = answer(
                auditor, .subscriptions, ["account": .string(account), "limit": 1_000])
            compare(
                "subscriptions of \(account)",
                (list?["subscriptions"]?.array ?? []).map {
                    "\($0["type"]?.integer ?? 0)/\($0["publisher"]?.string ?? "")"
                },
                disk.durable.subscriptions.keys.filter { $0.account == name }.map {
                    "\($0.type)/\(String(decoding: $0.other, as: UTF8.self))"
                })
            let sessions = answer(auditor, .sessions, ["account": .string(account)])
            compare(
                "sessions of \(account)",
                (sessions?["sessions"]?.array ?? []).map { $0["device"]?.string ?? "" },
                disk.durable.sessions.keys.filter { $0.account == name }.map {
                    String(decoding: $0.other, as: UTF8.self)
                })
            for type in Self.types {
                let states = answer(
                    auditor, .query, ["type": .integer(type), "accounts": [.string(account)]])
                let status = states?["states"]?.array?.first?["status"]?["value"]?.integer
                let row = disk.durable.statuses[.init(account: name, type: UInt16(type))]
                compare(
                    "status \(type) of \(account)", [status.map { "\($0)" } ?? "none"],
                    [row.map { "\($0.value)" } ?? "none"])
            }
        }
    }

    private func compare(_ what: String, _ engine: [String], _ disk: [String]) {
        guard engine.sorted() != disk.sorted() else { return }
        violation("the disk has \(disk.sorted()) as \(what), the engine \(engine.sorted())")
    }

    /// No session outlives its token.
    func checkTokens() {
        guard !hasClockJumped else { return }
        for client in clients where client.stream != nil && client.isLoggedIn && !client.isDead {
            guard let end = client.tokenEnds, network.wallMilliseconds > end + 1_000 else {
                continue
            }
            violation("\(client.account)/\(client.device) is in with a token that has ended")
        }
    }

    /// No topic has more watchers than it may have, unless it had them before the cap.
    func checkWatchers(_ auditor: SimulatedCaller) {
        guard let max = subscribersMax else { return }
        for account in accounts {
            for type in Self.types {
                let list = answer(
                    auditor, .subscribers,
                    ["type": .integer(type), "publisher": .string(account)])
                let count = list?["count"]?.integer ?? -1
                if count > max { violation("\(account) has \(count) watchers of type \(type)") }
            }
        }
    }
}
