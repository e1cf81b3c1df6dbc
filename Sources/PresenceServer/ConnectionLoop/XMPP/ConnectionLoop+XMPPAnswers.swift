import Containers
import Outboxes
import PresenceCore
import PresenceWire
import PresenceXMPP

// Answers and refusals of the engine host, as stanzas.

extension ConnectionLoop where Link: ~Copyable {
    /// Does what the engine host has for XMPP clients only.
    mutating func carryOut(ofXMPP item: OutboundItem, of batch: borrowing Outbound) {
        switch item {
        case .deliverStanzas(let body, let seq, let topic, let receivers):
            let range = batch.shared.range(of: body)
            budget.spendDelivery(byteCount: range.count, receivers: receivers.count)
            deliverStanzas(
                batch.shared.bytes.span.extracting(range), seq, of: topic,
                to: batch.own.receivers[receivers])
        case .relay(let body, let connection):
            guard let slot = slot(of: connection), connections[slot].phase == .serving,
                let client = xmpp?[slot], takesRelayed(in: slot),
                connections[slot].phase == .serving
            else { return }
            var divided = DividedStanzas()
            divided.divide(
                batch.shared.bytes.span.extracting(batch.shared.range(of: body)),
                at: client.stream.domain)
            push(divided.bytes.span, to: slot)
        case .direct(let body, let delivery, let receivers):
            deliverDirected(
                body, delivery, of: batch.shared, to: batch.own.receivers[receivers])
        case .contact(let notice, let receivers):
            notify(
                batch.shared.effects.notices[notice], to: batch.own.receivers[receivers],
                in: batch.shared.effects)
        case .credentials(let connection, let answer):
            guard let slot = slot(of: connection) else { return }
            take(answer, for: slot)
        default: preconditionFailure("an item for other connections")
        }
    }

    /// Answers what an XMPP client waits for.
    mutating func answerStanza(_ slot: Int, _ answer: Answer, in effects: borrowing Effects) {
        guard let client = xmpp?[slot], let request = client.inProgress else { return }
        client.inProgress = nil
        client.paced.changeEnded()
        switch (request, answer) {
        case (.bind, .loggedIn(let login)):
            counters.loginsOfClients += 1
            client.bind()
            connections[slot].bareJIDBytes = bareJIDs.set(
                slot, client.stream.account, at: client.stream.domain)
            say(slot)
            connections[slot].pulling.beginList()
            beginServing(slot)
            if let term = login.term { limit(slot, to: term) }
        case (.relation(let head, let change), .related) where change.isAnswered:
            if let sender = client.sender {
                send(to: slot) { $0.appendResult(head, to: sender) }
            }
        case (.roster(let head), .contacts(let entries, _, _)):
            guard let sender = client.sender else { break }
            var result: [UInt8] = []
            result.appendRosterStart(head, to: sender)
            for index in entries where effects.contacts[index].isContact {
                result.append(
                    RosterItem(effects.contacts[index], in: effects), at: client.stream.domain)
            }
            result.appendRosterEnd()
            send(to: slot) { $0 += result }
        case (.lastSeen(let head), .lastSeen(let time)):
            let now = now().wall.milliseconds
            let seconds = time.map { Int((now - $0.milliseconds) / 1_000) } ?? 0
            if let sender = client.sender {
                send(to: slot) { $0.appendLast(head, to: sender, seconds: seconds) }
            }
        case (.discovery(let head, let subject), .done):
            if let sender = client.sender { discover(subject, head, sender, in: slot) }
        case (.hiding(_, let farewell), .shown(.ends)):
            // RFC 6121, 4.5.2: as each available resource of the account, this one included.
            if let sender = client.sender {
                send(to: slot) { $0.appendUnavailable(farewell, of: sender) }
            }
        case (.presence, .shown(.begins)):
            connections[slot].pulling.beginList()
        // Before the end of its side, which may have been read meanwhile, is acted on.
        case (.logout, .loggedOut): return closeStream(slot, nil)
        default: break
        }
        settle(slot)
    }

    /// Answers a client that has changed the password of its account.
    mutating func answerStanza(_ slot: Int, _ answer: QuestionAnswer) {
        guard let client = xmpp?[slot], case .password(let head, let remark) = client.inProgress,
            case .passwordSet = answer
        else { return }
        client.inProgress = nil
        if let sender = client.sender {
            send(to: slot) { $0.appendPasswordChanged(head, to: sender, remark) }
        }
        settle(slot)
    }

    /// Refuses what an XMPP client waits for.
    mutating func refuseStanza(_ slot: Int, _ refusal: Refusal) {
        guard let client = xmpp?[slot], let request = client.inProgress else { return }
        if keep(request, after: refusal, of: client, in: slot) {
            guard client.paced.change == nil else { return }
            client.inProgress = nil
            return settle(slot)
        }
        client.inProgress = nil
        client.paced.changeEnded()
        count(refusal, of: slot)
        switch request {
        case .authentication:
            refuse(client, in: slot, SASLFailure(refusal), refusal.wordsOfWait)
        case .registration:
            client.stream.refuse(registration: StanzaError(refusal))
            say(slot)
        case .bind:
            // Only after the authentication has succeeded, so it is not the password that is wrong.
            let isVoid = refusal.reason == .invalidPassword
            let error = isVoid ? .passwordChanged : StanzaError(refusal)
            counters.stanzaErrors.count(error.condition)
            let last = client.stream.refuse(bind: error)
            say(slot)
            if let last { return endStream(slot, after: last) }
        case .relay(let head):
            guard let head, let sender = client.sender else { break }
            let isThere = refusal.reason == .rateLimited
            let error = isThere ? StanzaError(refusal) : .serviceUnavailable
            counters.stanzaErrors.count(error.condition)
            send(to: slot) { $0.append(error, head, to: sender) }
        case .discovery(let head, _):
            // As of an account that does not exist.
            let error =
                refusal.reason == .forbidden ? .serviceUnavailable : StanzaError(refusal)
            counters.stanzaErrors.count(error.condition)
            if let sender = client.sender {
                send(to: slot) { $0.append(error, head, to: sender) }
            }
        case .presence(let head, _), .availability(let head), .hiding(let head, _),
            .relation(let head, _), .password(let head, _), .lastSeen(let head), .roster(let head):
            let error = StanzaError(refusal)
            counters.stanzaErrors.count(error.condition)
            if let sender = client.sender {
                send(to: slot) { $0.append(error, head, to: sender) }
            }
        // The stream has ended already.
        case .logout:
            say(slot)
            end(slot, .logout, .lost, .whenWritten(code: nil))
        case .encryption: break
        }
        guard connections[slot].phase != .closing else { return }
        settle(slot)
    }

    // MARK: Contacts

    /// Tells XMPP clients what a contact has said, and what has changed in their rosters.
    mutating func notify(
        _ notice: ContactNotice, to receivers: ArraySlice<UInt32>, in effects: borrowing Effects
    ) {
        for receiver in receivers where connections[Int(receiver)].phase == .serving {
            let slot = Int(receiver)
            guard let client = xmpp?[slot] else { continue }
            if let word = notice.word {
                send(word, of: notice.contact, to: client, in: slot, effects)
            }
            guard notice.isListChanged else { continue }
            push(notice.contact, to: client, in: slot, effects)
        }
    }

    private mutating func send(
        _ word: RelationWord, of contact: ContactEntry, to client: XMPPConnection, in slot: Int,
        _ effects: borrowing Effects
    ) {
        guard let sender = client.sender else { return }
        var stanza: [UInt8] = []
        stanza.append(word, of: contact, in: effects, to: sender)
        push(stanza.span, to: slot)
    }

    /// Sends a client that has asked for its roster a change of it.
    private mutating func push(
        _ contact: ContactEntry, to client: XMPPConnection, in slot: Int,
        _ effects: borrowing Effects
    ) {
        guard let sender = client.sender else { return }
        var stanza: [UInt8] = []
        stanza.appendRosterPushStart(number: client.nextNumber(), to: sender)
        if contact.isContact {
            stanza.append(RosterItem(contact, in: effects), at: sender.domain)
        } else {
            stanza.appendRemovedItem(effects.text(contact.account), at: sender.domain)
        }
        stanza.appendRosterEnd()
        push(stanza.span, to: slot)
    }
}
