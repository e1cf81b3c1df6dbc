import Connections
import Outboxes
import PresenceCore
import PresenceXMPP

// Presence for one address: what a client sends, and what it is sent of others. A stranger may send
// it, so it is bounded as relayed iqs are.

extension XMPPClient {
    /// Has the device of the client presented to an address. What does not fit is left out, as of a
    /// presence for all.
    func direct(
        _ presentation: Presentation, to account: [UInt8], _ device: [UInt8]?, _ head: StanzaHead,
        of sender: StanzaSender, _ clients: inout Clients
    ) {
        var presentation = presentation
        // An end is never rejected; it is within the limits of its parts.
        if case .available(var availability) = presentation {
            func byteCount() -> Int {
                var bytes: [UInt8] = []
                bytes.appendPresenceStart(
                    from: sender.account, device: sender.device, at: sender.domain)
                bytes.appendJID(of: account, at: sender.domain, device: device)
                bytes.appendPresenceRest(availability)
                return bytes.count
            }
            if byteCount() > Self.relayedBytesMax { availability.extra = [] }
            guard byteCount() <= Self.relayedBytesMax else { return rejectLong(head, &clients) }
            presentation = .available(availability)
        }
        let shown = presentation
        ask(for: .availability(head), &clients) { texts in
            .direct(
                Direct(
                    account: texts.add(account), device: device.map { texts.add($0) },
                    presentation: shown))
        }
    }

    /// Which of the presences of a device that is presented to an address the client is sent: all
    /// of it, or the brief one; nil: none.
    fileprivate func stanzas(
        _ all: BatchIndex<Stanzas>, _ delivery: DirectedDelivery, of device: Int,
        _ clients: inout Clients, at now: Mono
    ) -> BatchIndex<Stanzas>? {
        var isBriefOnly = false
        switch delivery {
        case .beginning: break
        case .end:
            guard presented.end(device) else { return nil }
            isBriefOnly = presented.isFull
        case .endForSubscribers: presented.end(device)
        }
        let takesAll = takesRelayed(&clients, at: now) && !isBriefOnly
        guard clients.table.phase(of: slot) == .serving,
            let sent = takesAll ? all : delivery.brief
        else { return nil }
        if case .beginning = delivery { presented.begin(device) }
        return sent
    }
}

extension Clients {
    /// Sends clients a presence that was addressed to them: all of it, or, if it must not be lost,
    /// at least the brief one, which says only that the device is offline. Strangers get the end
    /// only if they got the beginning, which was rate-limited.
    mutating func deliverDirected(
        _ all: BatchIndex<Stanzas>, _ delivery: DirectedDelivery, of shared: borrowing SharedOutput,
        to receivers: ArraySlice<UInt32>, at now: Mono
    ) {
        // Filled again only for a receiver that is sent the other one, or has another domain.
        var filled = DomainStanzas()
        var filledWith: BatchIndex<Stanzas>?
        let sender = shared.stanzas.hashOfSender(in: shared.part(of: all))
        for receiver in receivers where table.phase(of: Int(receiver)) == .serving {
            let slot = Int(receiver)
            guard let client = protocols[slot].client,
                let sent = client.stanzas(all, delivery, of: sender, &self, at: now)
            else { continue }
            if filledWith != sent || filled.domain != client.stream.domain {
                filled.fill(shared.part(of: sent), of: shared.stanzas, at: client.stream.domain)
                filledWith = sent
            }
            push(filled, to: slot)
        }
    }
}
