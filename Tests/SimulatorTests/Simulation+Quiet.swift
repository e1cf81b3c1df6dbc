import Connections
import PresenceClient
import PresenceCore

@testable import PresenceServer

// Now and then everything is let run out: clients read and send, the disk commits. Then what
// must hold in the end is checked, by asking the service itself.

extension Simulation {
    /// Lets everything run out and checks what must hold then.
    func quiet() {
        settle()
        service.checkInvariants()
        for client in clients { checkTruth(client) }
        // A caller in process needs no login and is bound by no pace.
        let auditor = service.caller
        checkPresence(auditor)
        for client in clients where client.isOwner {
            checkSubscriptions(client, auditor)
            checkStatus(client, auditor)
            checkView(client, auditor)
        }
        for client in clients where !client.isOwner && !client.isReader {
            checkEnds(client, auditor)
        }
        for client in clients where client.role == .feedReader { checkTable(client, auditor) }
        checkXMPP(auditor)
        checkDisk(auditor)
        checkRelations(auditor)
        checkTokens()
        checkPasswords()
        checkWatchers(auditor)
        checkDelivery()
        checkFarewell(auditor)
        // Contents of messages that could not be read are read again after a second.
        pass(milliseconds: 1_000)
        settle()
        checkMessages()
        checkDevices(auditor)
    }

    func settle() {
        for peer in peers { peer.isStalled = false }
        pingXMPP()
        for _ in 0..<400 {
            for id in network.ids { deliver(id, bytesMax: .max) }
            settleDisk(.sound)
            while !verifier.isIdle { verifyOne() }
            while !passwordThread.isIdle { deriveOne() }
            endTurn()
            service.settleLinks()
            for peer in peers { read(peer, bytesMax: .max) }
            if isSettled { return }
            // What is throttled waits for time to pass.
            pass(milliseconds: 100)
        }
        violation("does not come to rest")
    }

    private var isSettled: Bool {
        guard disk.isIdle, service.isAtRest, areTablesComplete, verifier.isIdle,
            passwordThread.isIdle,
            service.nextWake.map({ $0 > now }) ?? true
        else { return false }
        return peers.allSatisfy { peer in
            guard let id = peer.stream, !peer.isDead else { return true }
            let stream = network.streams[id]
            return !peer.isWaiting && stream?.toClient.isEmpty != false
                && stream?.toServer.isEmpty != false
                // A login may have been rejected.
                && (peer.hasList || !peer.isLoggedIn)
        }
    }

    func answer(_ auditor: SimulatedCaller, _ method: MethodName, _ params: JSON) -> JSON? {
        guard let result = auditor.answer(method, params) else {
            violation("no answer to \(method)")
            return nil
        }
        return result
    }

    // MARK: Checks

    /// Nobody who is there is shown offline; nobody is shown online longer than the bound.
    private func checkPresence(_ auditor: SimulatedCaller) {
        let result = answer(
            auditor, .query,
            ["type": 1, "accounts": .array(accounts.map { .string($0) })])
        let silence = configuration.engine.silenceMillisecondsMax
        let grace = UInt64(Bound.disconnectGraceSeconds) * 1_000
        let restart = UInt64(Bound.restartGraceSeconds) * 1_000
        for state in result?["states"]?.array ?? [] {
            let name = state["publisher"]?.string ?? ""
            let online = state["online"]?.array?.compactMap { $0["device"]?.string } ?? []
            for peer in peers where peer.account == name && peer.isShown {
                if !online.contains(peer.device) {
                    violation("\(peer.name) is here and shown offline")
                }
            }
            for device in online {
                let speaksXMPP = peers.contains {
                    $0.speaksXMPP && $0.account == name && $0.device == device
                }
                let bound = max(silence, speaksXMPP ? Patience.ofXMPP.millisecondsMax : 0) + grace
                let key = "\(name)/\(device)"
                let isOver =
                    now > wholeSince(key) + bound + 1_000
                    && now > startedAt + max(restart, bound) + 1_000
                if isOver { violation("\(key) is a ghost") }
            }
        }
    }

    /// What was acknowledged is there, and what ended is not.
    private func checkSubscriptions(_ client: SimulatedClient, _ auditor: SimulatedCaller) {
        let result = answer(
            auditor, .subscriptions, ["account": .string(client.account), "limit": 1_000])
        let count = result?["count"]?.integer ?? -1
        if count > Bound.subscriptionsPerAccountMax {
            violation("\(client.account) has \(count) subscriptions")
        }
        var there: Set<String> = []
        for line in result?["subscriptions"]?.array ?? [] {
            there.insert("\(line["type"]?.integer ?? 0)/\(line["publisher"]?.string ?? "")")
        }
        for (key, expires) in client.certain {
            guard let expires, expires > 0 else {
                // The removal of what ran out need not be durable: after a crash, and with a
                // clock that was set back, it has not run out.
                let isOver = expires == 0 || expires == -1 && !hasClockJumped
                if isOver, there.contains(key) {
                    violation("\(client.account) has \(key), which it has ended")
                }
                continue
            }
            if !hasClockJumped, expires > network.wallMilliseconds, !there.contains(key) {
                violation("\(client.account) lost \(key), which was acknowledged")
            }
            if !hasClockJumped, expires < network.wallMilliseconds, there.contains(key) {
                violation("\(client.account) still has \(key), which has run out")
            }
        }
    }

    /// A status that was acknowledged to be durable is there until it runs out.
    private func checkStatus(_ client: SimulatedClient, _ auditor: SimulatedCaller) {
        guard client.isStatusCertain, !hasClockJumped else { return }
        let accounts: JSON = [.string(client.account)]
        let result = answer(auditor, .query, ["type": 1, "accounts": accounts])
        let real = result?["states"]?.array?.first?["status"]?["value"]?.integer
        let isInForce = (client.status?.expires ?? 0) > network.wallMilliseconds
        let expected = isInForce ? client.status?.value : nil
        if real != expected {
            let words = [real, expected].map { $0.map(String.init) ?? "none" }
            violation("the status of \(client.account) is \(words[0]), acknowledged \(words[1])")
        }
    }

    /// The newest state of everything that is watched is known.
    private func checkView(_ client: SimulatedClient, _ auditor: SimulatedCaller) {
        guard client.stream != nil, client.isLoggedIn, !client.isDead else { return }
        // One that lies is to be found out by what it loses.
        guard disk.canary == .none else { return }
        let list = answer(
            auditor, .subscriptions, ["account": .string(client.account), "limit": 1_000])
        var watched: Set<String> = []
        for line in list?["subscriptions"]?.array ?? [] {
            let key = "\(line["type"]?.integer ?? 0)/\(line["publisher"]?.string ?? "")"
            // Of one that took effect unanswered the client knows nothing until it asks again.
            guard case .some(.some(let expires)) = client.certain[key], expires > 0 else {
                continue
            }
            watched.insert(key)
        }
        let seen = client.hearsContacts ? contactsSeen(by: client.account, auditor) : []
        for key in watched.union(seen.map { "1/\($0)" }).sorted() {
            let publisher = String(key.drop { $0 != "/" }.dropFirst())
            var leases: Leases = watched.contains(key) ? .timed : []
            if key.hasPrefix("1/"), seen.contains(publisher) { leases.insert(.approved) }
            let isSeen =
                publisher == client.account
                || !leases.isDisjoint(with: visibility(of: publisher).leases)
            // Of an approval that shows nothing yet the client is told no state.
            guard isSeen || watched.contains(key) else { continue }
            checkView(client, key, publisher, isSeen: isSeen, auditor)
        }
    }

    /// Another session of the account, which has ended subscriptions, was told so.
    private func checkEnds(_ client: SimulatedClient, _ auditor: SimulatedCaller) {
        guard client.stream != nil, client.isLoggedIn, !client.isDead, !client.hearsContacts,
            disk.canary == .none
        else { return }
        let list = answer(
            auditor, .subscriptions, ["account": .string(client.account), "limit": 1_000])
        let there = (list?["subscriptions"]?.array ?? []).map {
            "\($0["type"]?.integer ?? 0)/\($0["publisher"]?.string ?? "")"
        }
        for key in client.current.subtracting(there).sorted()
        // What another session of its account publishes it is told anyway.
        where key.drop(while: { $0 != "/" }).dropFirst() != client.account[...] {
            violation("\(client.account) was not told that \(key) has ended")
        }
    }

    /// The contacts that an account sees if they let it.
    func contactsSeen(by account: String, _ auditor: SimulatedCaller) -> Set<String> {
        let list = answer(auditor, .contacts, ["account": .string(account), "limit": 1_000])
        return Set(
            (list?["contacts"]?.array ?? [])
                .filter { ["to", "both"].contains($0["subscription"]?.string) }
                .compactMap { $0["account"]?.string })
    }

    func visibility(of account: String) -> Visibility {
        disk.durable.visibilities[.init(account: Array(account.utf8))]
            .flatMap { Visibility(rawValue: $0) } ?? configuration.engine.visibility
    }

    private func checkView(
        _ client: SimulatedClient, _ key: String, _ publisher: String, isSeen: Bool,
        _ auditor: SimulatedCaller
    ) {
        guard let view = client.view[key] else {
            return violation("\(client.account) knows nothing of \(key)")
        }
        guard isSeen else {
            if !view.isOfUnknown { violation("\(client.account) sees \(key): \(view.text)") }
            return
        }
        let type = Int64(key.prefix { $0 != "/" }) ?? 0
        let result = answer(
            auditor, .query, ["type": .integer(type), "accounts": [.string(publisher)]])
        guard let truth = result?["states"]?.array?.first else { return }
        for field in ["online", "status", "lastSeen"] {
            let known = field == "status" ? view[field]?["value"] : view[field]
            let real = field == "status" ? truth[field]?["value"] : truth[field]
            if known != real {
                violation(
                    "\(client.account) believes \(field) of \(key) is "
                        + "\(known?.text ?? "-") and it is \(real?.text ?? "-")")
            }
        }
    }
}
