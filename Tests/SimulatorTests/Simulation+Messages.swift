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
        messageLedger.note(
            body,
            MessageLedger.Entry(
                recipients: Set(recipients), device: device,
                expires: now + UInt64(seconds) * 1_000))
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
        let account = accounts.randomElement(using: &random) ?? "ann"
        messageLedger.noteDiscarding(account)
        ask(client, "discard", ["account": .string(account)])
    }

    /// Every message that was accepted waits, or was taken, discarded or has expired; none that was
    /// taken or refused waits. Who reads has been sent what waits.
    func checkMessages() {
        messageLedger.rest()
        var waiting: [String: Set<String>] = [:]
        for row in disk.durable.messages.values {
            guard let content = disk.durable.contents[row.id] else {
                violation("message \(row.id) has no content")
                continue
            }
            let body = String(decoding: content.body, as: UTF8.self)
            waiting[body, default: []].insert(String(decoding: row.account, as: UTF8.self))
        }
        for (body, entry) in messageLedger.entries {
            let left = waiting[body] ?? []
            switch entry.outcome {
            case .refused:
                if !left.isEmpty { violation("\(body) was refused and waits") }
            case .accepted where now < entry.expires && !hasClockJumped:
                for account in entry.recipients.subtracting(left)
                where !entry.perhapsDone.contains(account) {
                    violation("\(body) for \(account) is lost")
                }
            case .accepted, .unknown: break
            }
            for account in left where entry.done[account] != nil {
                violation("\(body) was taken by \(account) and waits")
            }
        }
        for client in clients { checkMessages(of: client, waiting) }
        let known = service.hub.host.engine.messages
        if known.waiting != disk.durable.messages.count {
            violation("\(known.waiting) messages wait, \(disk.durable.messages.count) are stored")
        }
        checkUndelivered()
    }

    /// What was handed over is undelivered while it waits, in the order of the numbers.
    private func checkUndelivered() {
        let start = Mono(milliseconds: 0)
        let share = service.hub.host.engine.undelivered(
            after: 0, countMax: .max, bytesMax: .max, at: start)
        let told = share.messages.map { Int64(clamping: $0.handOver.number) }
        let stored = disk.durable.messages.values.map(\.handOver).filter { $0 > 0 }.sorted()
        if told != stored { violation("undelivered is \(told), stored \(stored)") }
    }

    private func checkMessages(of client: SimulatedClient, _ waiting: [String: Set<String>]) {
        guard client.stream != nil, client.isLoggedIn, client.readsMessages, client.isSynced,
            !client.isDead, !client.hasSetPriority
        else { return }
        let sent = Set(client.untaken.map(\.body))
        for (body, accounts) in waiting where accounts.contains(client.account) {
            guard let entry = messageLedger.entries[body] else { continue }
            guard entry.device == nil || entry.device == client.device else { continue }
            if !sent.contains(body) { violation("\(client.name) was not sent \(body)") }
        }
    }
}
