import Outboxes
import PresenceCore
import PresenceXMPP

// Events and states as presences. What many receive is shared as native events are, with a gap
// where each receiver has its bare JID; what it cannot share is copied.

extension ConnectionLoop where Link: ~Copyable {
    /// Sends an event to XMPP clients: a body with places for what differs by receiver.
    mutating func deliverStanzas(
        _ template: Span<UInt8>, _ seq: UInt64, of topic: TopicHandle,
        to receivers: ArraySlice<UInt32>
    ) {
        // Looked up once: each use of the property would retain all that is in it.
        guard let clients = xmpp else { return }
        let domains = clients.service.settings.domains
        // By domain: the frame that its clients share.
        var shared = [SharedFrames.Frame?](repeating: nil, count: domains.count)
        var divided = DividedStanzas()
        swap(&divided, &stanzas)
        defer { swap(&divided, &stanzas) }
        divided.removeAll()
        let outboxBytesMax = configuration.connection.outboxBytesMax
        for receiver in receivers {
            let slot = Int(receiver)
            // With one domain, no receiver has to be asked for its own.
            let domain = domains.count == 1 ? 0 : clients.domain(of: slot)
            if shared[domain] == nil {
                divided.divideOnce(template, at: domains[domain])
                shared[domain] = frames.add(
                    divided.bytes.span, gaps: divided.gaps.span, for: receivers.count)
            }
            guard let frame = shared[domain] else {
                copy(divided, seq, of: topic, to: slot)
                continue
            }
            // The common case.
            let textBytes = Int(connections[slot].bareJIDBytes)
            switch connections[slot].take(
                frame, of: &frames, textBytes: textBytes, upTo: outboxBytesMax)
            {
            case .taken: continue
            case .takenFirst: dirty.append(receiver)
            case .notSimple:
                divided.divideOnce(template, at: domains[domain])
                copy(divided, seq, of: topic, to: slot)
            }
        }
    }

    /// Sends an event to a client that cannot share it, if it has room.
    private mutating func copy(
        _ stanzas: borrowing DividedStanzas, _ seq: UInt64, of topic: TopicHandle, to slot: Int
    ) {
        guard accepts(topic, seq, in: slot) else { return }
        let before = beginMessage(to: slot)
        connections[slot].output.outbox.bytes.append(stanzas, to: bareJIDs[slot])
        endMessage(before, to: slot)
        noteHeldBack(slot, since: before)
    }

    /// Sends a client states.
    mutating func sendStanzas(_ states: Range<Int>, to slot: Int, in effects: borrowing Effects) {
        guard let client = xmpp?[slot] else { return }
        let bareJID = bareJIDs[slot]
        var presences = PresenceTemplate()
        for index in states {
            presences.removeAll()
            presences.append(effects.events[index], in: effects, at: client.stream.domain)
            send(to: slot) { presences.append(to: bareJID, into: &$0) }
        }
    }
}
