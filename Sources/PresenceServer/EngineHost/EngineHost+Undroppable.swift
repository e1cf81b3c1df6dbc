import PresenceCore
import PresenceWire
import PresenceXMPP

// Messages that connections have not asked for and that must not be lost, since no later state says
// the same: expired subscriptions, changes of contacts, the ends of directed presence.

extension EngineHost {
    /// Appends a message for receivers that may not keep up. Each is sent about `byteCount`
    /// bytes.
    mutating func push(
        _ item: FanOutItem, to receivers: Range<Int>, byteCount: Int
    ) {
        output.append(item, to: receivers, omitting: stalledLoops)
        pushToStalled(item, receivers, byteCount: byteCount)
    }

    /// Appends a message for those of its receivers that are on stalled loops, as far as
    /// they may have more; the others are closed when their loop continues.
    mutating func pushToStalled(
        _ item: FanOutItem, _ receivers: Range<Int>, byteCount: Int
    ) {
        guard !stalledLoops.isEmpty else { return }
        let start = output.shared.effects.receivers.count
        for place in receivers {
            let slot = output.shared.effects.receivers[place]
            let loop = loops.loop(of: slot)
            guard stalledLoops.contains(loop),
                let connection = engine.connection(inSlot: slot)
            else { continue }
            let limits = StalledLoops.Limits(
                perConnection: configuration.connection.backlogBytesMax,
                perLoop: LoopNumber(index: loop, of: loops.count).share(
                    of: configuration.connection.outboxBytesInAllMax))
            switch stalled.keep(byteCount, for: connection, ofLoop: loop, within: limits) {
            case .waits:
                output.shared.effects.receivers.append(slot)
            case .closes:
                output.append(.close(.tooSlow, retryAfterSeconds: nil), for: connection)
            case .dropped: break
            }
        }
        let waiting = start..<output.shared.effects.receivers.count
        if !waiting.isEmpty { output.append(item, to: waiting) }
    }

    /// Hands a change of a contact to the sessions of an account.
    mutating func tell(_ notice: BatchIndex<ContactNotice>, to receivers: Range<Int>) {
        let (native, xmpp) = output.divide(receivers)
        if !native.isEmpty {
            let body = output.shared.add { bytes, effects in
                bytes.appendContactBody(effects.notices[notice], in: effects)
            }
            push(
                .deliverAlways(body), to: native,
                byteCount: output.shared.range(of: body).count)
        }
        if !xmpp.isEmpty {
            push(
                .contact(notice), to: xmpp,
                byteCount: output.shared.effects.stanzaByteCount(of: notice))
        }
    }

    /// Hands a presence to receivers that need not subscribe. That a device is available is not
    /// kept for stalled loops; its end is, without what it says.
    mutating func direct(_ index: Int, to receivers: Range<Int>, at now: Mono) {
        let presence = output.shared.effects.directed[index]
        switch presence.kind {
        case .available:
            let admitted = admitted(presence, receivers, now)
            guard !admitted.isEmpty else { return }
            let all = add(presence)
            output.append(.direct(all, .beginning), to: admitted, omitting: stalledLoops)
        case .unavailable:
            deliver(endOf: presence, to: receivers) { .end(brief: $0) }
        case .unavailableToSubscribers:
            // The others are sent the end only if they were sent the beginning, which was
            // rate-limited.
            let admitted = admitted(presence, receivers, now)
            deliver(endOf: presence, to: admitted) { .endForSubscribers(brief: $0) }
            deliver(endOf: presence, to: admitted.upperBound..<receivers.upperBound) {
                .end(brief: $0)
            }
        }
    }

    private mutating func deliver(
        endOf presence: DirectedPresence, to receivers: Range<Int>,
        _ delivery: (BatchIndex<Stanzas>) -> DirectedDelivery
    ) {
        guard !receivers.isEmpty else { return }
        let all = add(presence)
        var brief = all
        if presence.device.availability != nil {
            var briefly = presence
            briefly.device.availability = nil
            brief = add(briefly)
        }
        output.append(.direct(all, delivery(brief)), to: receivers, omitting: stalledLoops)
        pushToStalled(
            .direct(brief, delivery(brief)), receivers,
            byteCount: output.shared.part(of: brief).byteCount)
    }

    private mutating func add(_ presence: DirectedPresence) -> BatchIndex<Stanzas> {
        output.shared.addStanzas { $0.append(presence, in: $1) }
    }

    /// Those receivers that have not been sent too much of others, moved to the front of the range.
    private mutating func admitted(
        _ presence: DirectedPresence, _ receivers: Range<Int>, _ now: Mono
    ) -> Range<Int> {
        var end = receivers.lowerBound
        for place in receivers {
            let slot = output.shared.effects.receivers[place]
            let wait = relayed.take(
                for: slot, of: presence.account, isContact: presence.isFromContact, at: now)
            guard wait == nil else { continue }
            output.shared.effects.receivers.swapAt(place, end)
            end += 1
        }
        return receivers.lowerBound..<end
    }
}

extension Effects {
    /// About how many bytes a stanza has, apart from names and texts.
    private static let stanzaBytes = 256

    /// About how many bytes an XMPP client is sent of a notice.
    fileprivate func stanzaByteCount(of notice: BatchIndex<ContactNotice>) -> Int {
        let contact = notices[notice].contact
        return Self.stanzaBytes + Int(contact.account.count + contact.label.count)
            + Int(contact.requestText?.count ?? 0) + Int(contact.requestExtra?.count ?? 0)
    }

    /// About how many bytes a client is sent of expired names.
    func byteCount(ofNames range: Range<Int>) -> Int {
        names[range].reduce(Self.stanzaBytes) { $0 + Int($1.count) + 3 }
    }
}
