import Connections
import Containers
import Outboxes
import PresenceCore
import PresenceXMPP

// Events and states as presences. What many receive is shared as native events are, with a gap
// where each receiver has its bare JID; what it cannot share is copied.

extension Clients {
    /// Sends an event to XMPP clients.
    mutating func deliverStanzas(
        _ part: StanzaTemplate.Part, of template: borrowing StanzaTemplate, _ seq: UInt64,
        of topic: TopicHandle, to receivers: ArraySlice<UInt32>, at now: Mono
    ) {
        guard let domains = xmpp?.domains else { return }
        var filled = DomainStanzas()
        swap(&filled, &stanzas)
        filled.removeAll()
        table.share(with: receivers) { variant, frames in
            guard let domain = variant.domain else { return nil }
            filled.fillOnce(part, of: template, at: domains[domain])
            return frames.add(filled.bytes.span, gaps: filled.gaps.span, for: receivers.count)
        }
        let unshared = table.takeUnshared()
        for receiver in unshared {
            let slot = Int(receiver)
            guard accepts(topic, seq, in: slot, at: now),
                let domain = table.variant(of: slot).domain
                    ?? protocols.span[slot].client?.domainPlace
            else { continue }
            filled.fillOnce(part, of: template, at: domains[domain])
            push(filled, to: slot)
        }
        table.giveBack(consume unshared)
        swap(&filled, &stanzas)
    }

    /// Sends an XMPP client presences that it has not asked for.
    mutating func push(_ presences: borrowing DomainStanzas, to slot: Int) {
        let bareJID = table.gapText(of: slot)
        let before = table.ownBytes(of: slot)
        if let client = protocols[slot].client, table.variant(of: slot).domain == nil {
            var elements: [UInt8] = []
            elements.append(presences, to: bareJID)
            client.append(elements.span, &self)
        } else {
            var outbox = table.beginAppending(to: slot)
            outbox.append(presences, to: bareJID)
            table.endAppending(outbox, to: slot)
        }
        countHeldBack(slot, since: before)
    }

    /// Notifies XMPP clients of what a contact has sent, and of changes of their rosters.
    mutating func notify(
        _ notice: ContactNotice, to receivers: ArraySlice<UInt32>, in effects: borrowing Effects
    ) {
        for receiver in receivers where table.phase(of: Int(receiver)) == .serving {
            protocols[Int(receiver)].client?.notify(notice, in: effects, &self)
        }
    }

    /// Sends an XMPP client a stanza of another one, if it keeps up.
    mutating func relay(
        _ part: StanzaTemplate.Part, of template: borrowing StanzaTemplate, to slot: Int,
        at now: Mono
    ) {
        guard table.phase(of: slot) == .serving, let client = protocols[slot].client,
            client.takesRelayed(&self, at: now)
        else { return }
        var filled = DomainStanzas()
        filled.fill(part, of: template, at: client.stream.domain)
        push(filled, to: slot)
    }
}

extension XMPPClient {
    /// Whether the client is sent a stanza of another client now: it keeps up. This may write to
    /// it, and find it closed.
    func takesRelayed(_ clients: inout Clients, at now: Mono) -> Bool {
        guard !clients.table.isBlocked(slot) else { return false }
        switch clients.table.room(of: slot, at: now) {
        case .accepts: return true
        case .full: return false
        case .broken:
            clients.end(slot, .lost, .lost, .atOnce)
            return false
        }
    }

    /// Sends the client states.
    func sendStates(
        _ states: Range<Int>, in effects: borrowing Effects, _ clients: inout Clients
    ) {
        let bareJID = clients.table.gapText(of: slot)
        var presences = StanzaTemplate()
        for index in states {
            presences.removeAll()
            presences.append(effects.events[index], in: effects)
            send(&clients) { presences.append(to: bareJID, at: stream.domain, into: &$0) }
        }
    }

    /// Sends the client a stanza that it has not asked for. That is counted while it does not read.
    func push(_ stanza: Span<UInt8>, _ clients: inout Clients) {
        let before = clients.table.ownBytes(of: slot)
        append(stanza, &clients)
        clients.countHeldBack(slot, since: before)
    }

    // MARK: Contacts

    /// Notifies the client of what a contact has sent, and of changes of its roster.
    func notify(
        _ notice: ContactNotice, in effects: borrowing Effects, _ clients: inout Clients
    ) {
        guard let sender else { return }
        if let word = notice.word {
            var stanza: [UInt8] = []
            stanza.append(word, of: notice.contact, in: effects, to: sender)
            push(stanza.span, &clients)
        }
        if notice.isListChanged { pushRosterItem(notice.contact, to: sender, effects, &clients) }
    }

    /// Sends a client that has asked for its roster a change of it.
    private func pushRosterItem(
        _ contact: ContactEntry, to sender: StanzaSender, _ effects: borrowing Effects,
        _ clients: inout Clients
    ) {
        var stanza: [UInt8] = []
        stanza.appendRosterPushStart(number: nextNumber(), to: sender)
        if contact.isContact {
            stanza.append(RosterItem(contact, in: effects), at: sender.domain)
        } else {
            stanza.appendRemovedItem(effects.text(contact.account), at: sender.domain)
        }
        stanza.appendRosterEnd()
        push(stanza.span, &clients)
    }
}
