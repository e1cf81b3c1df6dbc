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
        // An end is never refused; it is within the limits of its parts.
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
            guard byteCount() <= Self.relayedBytesMax else { return refuseLong(head, &clients) }
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
    fileprivate func body(
        _ all: BatchIndex<Body>, _ delivery: DirectedDelivery, of device: Int,
        _ clients: inout Clients, at now: Mono
    ) -> BatchIndex<Body>? {
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
            let body = takesAll ? all : delivery.brief
        else { return nil }
        if case .beginning = delivery { presented.begin(device) }
        return body
    }
}

extension Clients {
    /// Sends clients a presence that was addressed to them: all of it, or, if it must not be lost,
    /// at least the brief one, which says only that the device is gone. Strangers get the end only
    /// if they got the beginning, which was rate-limited.
    mutating func deliverDirected(
        _ body: BatchIndex<Body>, _ delivery: DirectedDelivery, of shared: borrowing SharedOutput,
        to receivers: ArraySlice<UInt32>, at now: Mono
    ) {
        // Divided again only for a receiver that is sent the other one, or has another domain.
        var divided = DividedStanzas()
        var dividedBody: BatchIndex<Body>?
        let sender = shared.bytes.span.extracting(shared.range(of: body)).hashOfSender
        for receiver in receivers where table.phase(of: Int(receiver)) == .serving {
            let slot = Int(receiver)
            guard let client = protocols[slot].client,
                let body = client.body(body, delivery, of: sender, &self, at: now)
            else { continue }
            if dividedBody != body || divided.domain != client.stream.domain {
                let bytes = shared.bytes.span.extracting(shared.range(of: body))
                divided.divide(bytes, at: client.stream.domain)
                dividedBody = body
            }
            push(divided, to: slot)
        }
    }
}
