import PresenceClient
import PresenceCore
import PresenceStore

@testable import PresenceServer

// App servers that read what is undelivered, and what must hold of it: what is handed over has the
// right reason, and reaches each of them once from where it goes on, unless it was taken before.

extension Simulation {
    /// An app server asks for what it reads, from where it was, or from elsewhere.
    func readOn(_ client: SimulatedClient) {
        guard client.role == .pusher else { return readFeed(client) }
        // The later request counts.
        if client.pusher.isReading, chance(4) { return readFeed(client) }
        let start: SimulatedPusher.Start = !chance(4) ? .last : chance(2) ? .earlier : .beginning
        let cursor = client.pusher.ask(from: start, at: messageLedger.tick())
        ask(client, "undelivered", cursor.map { ["cursor": .string($0)] } ?? [:])
    }

    /// Readers have come to these numbers of hand-overs, by contents that were read at this time.
    func noteUndelivered(_ numbers: [UInt64], since time: Int) {
        for number in numbers {
            let text = SimulatedHandOvers.HandOver(number: Int64(clamping: number), why: "").text
            messageLedger.noteUndelivered(upTo: text, at: time)
        }
    }

    private func readFeed(_ client: SimulatedClient) {
        ask(client, "feed", client.table.cursor.map { ["cursor": .string($0)] } ?? [:])
    }

    /// What was handed over is undelivered while it waits, in the order of the numbers; and who
    /// reads that has read it.
    func checkUndelivered() {
        let start = Mono(milliseconds: 0)
        let share = service.hub.host.engine.undelivered(
            after: 0, countMax: .max, bytesMax: .max, at: start)
        let told = share.messages.map { Int64(clamping: $0.handOver.number) }
        let stored = disk.durable.messages.values.filter { $0.expires > 0 }.map(\.handOver)
            .filter { $0 > 0 }.sorted()
        if told != stored { violation("undelivered is \(told), stored \(stored)") }
        disk.handOvers.faults.forEach { violation($0) }
        for client in clients where client.role == .pusher { checkHasRead(client) }
        for body in messageLedger.recent { checkReason(of: body) }
    }

    private func checkHasRead(_ client: SimulatedClient) {
        guard client.stream != nil, client.isLoggedIn, !client.isDead, client.pusher.isReading
        else { return }
        for row in disk.durable.messages.values where row.handOver > 0 && row.expires > 0 {
            let content = disk.durable.contents[row.id]
            let body = String(decoding: content?.body ?? [], as: UTF8.self)
            let account = String(decoding: row.account, as: UTF8.self)
            // What was taken when it was passed waits again after a crash.
            guard messageLedger.entries[body]?.perhapsDone.contains(account) == false else {
                continue
            }
            if !client.pusher.position.entries.contains("\(body) \(account)") {
                violation("\(client.name) was not told that \(body) waits for \(account)")
            }
        }
    }

    /// Whether what was sent since the last quiet time was handed over for the right reason, and
    /// if it was.
    private func checkReason(of body: String) {
        guard let entry = messageLedger.entries[body], entry.outcome.isStored else { return }
        for account in entry.recipients.sorted() {
            let handOver = disk.handOvers["\(body) \(account)"]
            if entry.away.contains(account), handOver?.why != "absent" {
                violation("\(body) for \(account) is \(handOver?.why ?? "not handed over")")
            }
            let wasThere = entry.present.contains { $0.account == account && isThere($0) }
            if wasThere, handOver?.why == "absent" {
                violation("\(body) for \(account) is absent, which was there")
            }
        }
    }

    /// Whether a client is still what it was when a message was sent.
    func isThere(_ presence: MessageLedger.Presence) -> Bool {
        presence.peer.readingSince == presence.since && presence.peer.stream != nil
            && !presence.peer.isDead && presence.peer.lastShow == presence.shown
    }

    /// The clients that are sent at once what is now sent to accounts.
    func present(
        _ accounts: [String], device: String? = nil, preferred: String? = nil
    ) -> [MessageLedger.Presence] {
        peers.compactMap { peer in
            guard let since = peer.readingSince, accounts.contains(peer.account), !peer.isDead
            else { return nil }
            let isMeant = device == peer.device || preferred == peer.device
            guard isMeant || device == nil && peer.takesAnyMessage else { return nil }
            return MessageLedger.Presence(
                peer: peer, since: since, shown: peer.lastShow, account: peer.account)
        }
    }

    /// What an XMPP client has addressed to a device that reads goes to no other.
    func checkDetours() {
        for detour in messageLedger.detours {
            guard let entry = messageLedger.entries[detour.body], let device = entry.preferred
            else { continue }
            for peer in peers where peer.account == detour.account && peer.device == device {
                guard let since = peer.readingSince, since < entry.asked, peer.stream != nil,
                    !peer.isDead
                else { continue }
                violation("\(detour.body) is for \(peer.name), and \(detour.device) was sent it")
            }
        }
    }
}
