import PresenceClient
import PresenceCore
import PresenceStore

@testable import PresenceServer

// Messages between accounts, and what must hold for them: what was accepted waits until it was
// taken, and is sent to those that it is for.

extension Simulation {
    func sendMessage(_ client: SimulatedClient) {
        let body = messageLedger.nextBody()
        let count = chance(2) ? 1 : Int.random(in: 1...3, using: &random)
        let recipients = Array(accounts.shuffled(using: &random).prefix(count))
        let device = count == 1 && chance(4) ? "x" : nil
        let seconds = chance(4) ? 60 : 2_592_000
        var params: [String: JSON] = [
            "accounts": .array(recipients.map { .string($0) }), "body": .string(body),
            "expiry": .integer(Int64(seconds)),
        ]
        if let device { params["device"] = .string(device) }
        if chance(3) { params["ext"] = .string(String(repeating: "e", count: 700)) }
        if client.isReader, chance(2) { params["account"] = "ann" }
        let sender = client.isReader ? params["account"]?.string : client.account
        messageLedger.note(
            body,
            MessageLedger.Entry(
                recipients: Set(recipients), sender: sender, device: device,
                expires: now + UInt64(seconds) * 1_000,
                present: present(recipients, device: device)))
        ask(client, "send", .object(params))
    }

    func takeMessages(_ client: SimulatedClient) {
        guard let (id, _) = client.untaken.randomElement(using: &random) else {
            return ask(client, "take", ["id": "0000000000000"])
        }
        messageLedger.noteAsked(client.untaken.map(\.body), by: client.account)
        ask(client, "take", ["id": .string(id)])
    }

    func discardMessages(_ client: SimulatedClient) {
        var params: [String: JSON] = [:]
        if chance(2) { params["account"] = .string(someAccount) }
        if params.isEmpty || chance(4) { params["from"] = .string(someAccount) }
        ask(client, "discard", .object(params))
    }

    /// Every message that was accepted waits, or was taken, discarded or has expired; none that was
    /// taken or rejected waits. Who reads has been sent what waits.
    func checkMessages() {
        var waiting: [String: Set<String>] = [:]
        for row in disk.durable.messages.values {
            guard let content = disk.durable.contents[row.id] else {
                violation("message \(row.id) has no content")
                continue
            }
            let body = String(decoding: content.body, as: UTF8.self)
            guard row.expires > 0 else { continue }
            waiting[body, default: []].insert(String(decoding: row.account, as: UTF8.self))
        }
        for (body, entry) in messageLedger.entries {
            let left = waiting[body] ?? []
            switch entry.outcome {
            case .rejected:
                if !left.isEmpty { violation("\(body) was rejected and waits") }
            case .accepted where isInForce(entry), .stored where isInForce(entry):
                for account in entry.recipients.subtracting(left)
                where !entry.perhapsDone.contains(account) {
                    violation("\(body) for \(account) is lost")
                }
            case .accepted, .stored, .unknown: break
            }
            for account in left where entry.done[account] != nil {
                violation("\(body) was taken by \(account) and waits")
            }
        }
        for client in clients { checkMessages(of: client, waiting) }
        for client in xmppClients { checkMessages(of: client, waiting) }
        let known = service.hub.host.engine.messages
        let stored = disk.durable.messages.values.filter { $0.expires > 0 }
        if known.waiting != stored.count {
            violation("\(known.waiting) messages wait, \(stored.count) are stored")
        }
        // Those of before a crash may still be there.
        if known.owed > disk.durable.messages.count - stored.count {
            violation("\(known.owed) messages are to be sent, and fewer are stored")
        }
        // Unless it has left too many.
        if known.missed == 0 {
            for body in messageLedger.recent { checkEverySession(isSent: body) }
        }
        checkUndelivered()
        checkDetours()
        messageLedger.rest(wall: hasClockJumped ? nil : network.wallMilliseconds)
    }

    /// Every session that was there when a message came was sent it, whichever has taken it.
    private func checkEverySession(isSent body: String) {
        guard let entry = messageLedger.entries[body], entry.outcome.isStored, isInForce(entry),
            entry.preferred == nil
        else { return }
        for presence in entry.present where isThere(presence) && presence.peer.hasRoom {
            guard !messageLedger.isDiscarding(entry, for: presence.account) else { continue }
            if !presence.peer.wasSent(body) {
                violation("\(presence.peer.name) was there and was not sent \(body)")
            }
        }
    }

    private func isInForce(_ entry: MessageLedger.Entry) -> Bool {
        now < entry.expires && !hasClockJumped
    }

    /// A session that is sent all messages that it may get has been sent what waits.
    private func checkMessages(of client: SimulatedClient, _ waiting: [String: Set<String>]) {
        guard client.stream != nil, client.isLoggedIn, client.readsMessages, client.isSynced,
            !client.isDead, !client.hasSetPriority
        else { return }
        let sent = Set(client.untaken.map(\.body))
        for (body, accounts) in waiting where accounts.contains(client.account) {
            guard let entry = messageLedger.entries[body], isFor(client, entry) else { continue }
            if !sent.contains(body) { violation("\(client.name) was not sent \(body)") }
        }
    }

    /// An XMPP client has answered that it has what it was sent: none of that waits.
    private func checkMessages(
        of client: SimulatedXMPPClient, _ waiting: [String: Set<String>]
    ) {
        guard client.stream != nil, client.readingSince != nil, !client.isDead else { return }
        for (body, accounts) in waiting where accounts.contains(client.account) {
            guard let entry = messageLedger.entries[body], isFor(client, entry),
                client.takesAnyMessage || entry.isMeant(for: client.device)
            else { continue }
            // It may have been stored for all, before the device was there.
            guard client.takesAnyMessage || entry.device != nil else { continue }
            violation("\(client.name) was not sent \(body)")
        }
    }

    /// Whether a message is for the device of a client, or may not be for another that is there.
    private func isFor(_ client: SimulatedPeer, _ entry: MessageLedger.Entry) -> Bool {
        if let device = entry.device { return device == client.device }
        guard let preferred = entry.preferred, preferred != client.device else { return true }
        return !peers.contains {
            $0.account == client.account && $0.device == preferred && $0.stream != nil
        }
    }
}
