import Outboxes
import PresenceCore
import PresenceXMPP
import XML

// Presence for one address: what a client sends, and what it is sent of others. A stranger may send
// it, so it is bounded as relayed iqs are.

extension ConnectionLoop where Link: ~Copyable {
    /// Has the device of a client presented to an address. What does not fit is left out, as of a
    /// presence for all.
    mutating func direct(
        _ presentation: Presentation, to account: [UInt8], _ device: [UInt8]?, _ head: StanzaHead,
        of sender: StanzaSender, in slot: Int
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
            if byteCount() > relayedBytesMax { availability.extra = [] }
            guard byteCount() <= relayedBytesMax else { return refuseLong(head, sender, in: slot) }
            presentation = .available(availability)
        }
        let shown = presentation
        ask(slot, for: .availability(head)) { texts in
            .direct(
                Direct(
                    account: texts.add(account), device: device.map { texts.add($0) },
                    presentation: shown))
        }
    }

    /// Whether a client is sent a stanza of another client now: it keeps up. This may write to it,
    /// and find it closed.
    mutating func takesRelayed(in slot: Int) -> Bool {
        !connections[slot].output.isBlocked && hasRoom(slot)
    }

    /// Sends clients a presence that was addressed to them: all of it, or, if it must not be lost,
    /// at least the brief one, which says only that the device is gone. That is not for strangers
    /// that were not sent that it is there: they could be sent any number of them.
    mutating func deliverDirected(
        _ body: Int, _ delivery: DirectedDelivery, of shared: borrowing SharedOutput,
        to receivers: ArraySlice<UInt32>
    ) {
        // Divided again only for a receiver that is sent the other one, or has another domain.
        var divided = DividedStanzas()
        var dividedNumber: Int?
        let sender = shared.bytes.span.extracting(shared.range(of: body)).hashOfSender
        for receiver in receivers where connections[Int(receiver)].phase == .serving {
            let slot = Int(receiver)
            guard let client = xmpp?[slot] else { continue }
            var isBriefOnly = false
            switch delivery {
            case .beginning: break
            case .end:
                guard client.presented.end(sender) else { continue }
                isBriefOnly = client.presented.isFull
            case .endForSubscribers: client.presented.end(sender)
            }
            let takesAll = takesRelayed(in: slot) && !isBriefOnly
            guard connections[slot].phase == .serving,
                let number = takesAll ? body : delivery.brief
            else { continue }
            if case .beginning = delivery { client.presented.begin(sender) }
            if dividedNumber != number || divided.domain != client.stream.domain {
                let bytes = shared.bytes.span.extracting(shared.range(of: number))
                divided.divide(bytes, at: client.stream.domain)
                dividedNumber = number
            }
            let start = beginMessage(to: slot)
            connections[slot].output.outbox.bytes.append(divided, to: bareJIDs[slot])
            endMessage(start, to: slot)
            noteHeldBack(slot, since: start)
        }
    }
}
