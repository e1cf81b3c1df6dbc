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
                // Of a session that is not shown nothing is kept.
                (sessions?["sessions"]?.array ?? []).filter { $0["connection"] != "hidden" }
                    .map { $0["device"]?.string ?? "" },
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

    /// What each account is listed as a contact of another agrees with both rows of the pair.
    func checkRelations(_ auditor: SimulatedCaller) {
        guard disk.canary == .none else { return }
        for account in accounts {
            let list = answer(auditor, .contacts, ["account": .string(account), "limit": 1_000])
            compare(
                "contacts of \(account)",
                (list?["contacts"]?.array ?? []).map { contact in
                    [
                        contact["account"]?.string, contact["subscription"]?.string,
                        contact["ask"] == true ? "ask" : nil,
                        contact["preapproved"] == true ? "preapproved" : nil,
                        contact["listed"] == false ? "unlisted" : nil,
                        contact["request"].map { "request \($0["text"]?.string ?? "")" },
                        contact["name"]?.string, contact["groups"]?.text,
                    ].compactMap { $0 }.joined(separator: " ")
                },
                accounts.compactMap { line(account, $0) })
        }
    }

    /// How an account must be listed by another, by what is on the disk.
    private func line(_ account: String, _ other: String) -> String? {
        func row(_ owner: String, _ contact: String) -> RelationRow? {
            disk.durable.relations[
                .init(account: Array(owner.utf8), other: Array(contact.utf8))]
        }
        let (own, mirror) = (row(account, other), row(other, account))
        let (seen, sees) = (own?.state ?? 0, mirror?.state ?? 0)
        let isContact = own?.isListed == true || seen != 0 || sees == 2
        guard isContact || sees == 1 else { return nil }
        let word =
            seen == 2 ? sees == 2 ? "both" : "to" : sees == 2 ? "from" : "none"
        let label = ContactLabel(stored: own?.label ?? [])
        let groups = label.groups.map { JSON.string(String(decoding: $0, as: UTF8.self)) }
        let name = String(decoding: label.name, as: UTF8.self)
        return [
            other, word, seen == 1 ? "ask" : nil,
            own?.approvesBefore == true ? "preapproved" : nil, isContact ? nil : "unlisted",
            sees == 1
                ? "request \(String(decoding: mirror?.requestText ?? [], as: UTF8.self))" : nil,
            name.isEmpty ? nil : name, groups.isEmpty ? nil : JSON.array(groups).text,
        ].compactMap { $0 }.joined(separator: " ")
    }

    private func compare(_ what: String, _ engine: [String], _ disk: [String]) {
        guard engine.sorted() != disk.sorted() else { return }
        violation("the disk has \(disk.sorted()) as \(what), the engine \(engine.sorted())")
    }

    /// No session outlives its token.
    func checkTokens() {
        guard !hasClockJumped else { return }
        for peer in peers where peer.stream != nil && peer.isLoggedIn && !peer.isDead {
            guard let end = peer.tokenEnds, network.wallMilliseconds > end + 1_000 else {
                continue
            }
            violation("\(peer.name) is in with a token that has ended")
        }
    }

    /// No topic has more watchers than it may have, unless it had them before the cap.
    func checkWatchers(_ auditor: SimulatedCaller) {
        guard let max = subscribersMax else { return }
        for account in accounts {
            // Accepted contacts, which a publisher lists as presence's subscribers, have no cap.
            for type in Self.types.dropFirst() {
                let list = answer(
                    auditor, .subscribers,
                    ["type": .integer(type), "publisher": .string(account)])
                let count = list?["count"]?.integer ?? -1
                if count > max { violation("\(account) has \(count) watchers of type \(type)") }
            }
        }
    }
}
