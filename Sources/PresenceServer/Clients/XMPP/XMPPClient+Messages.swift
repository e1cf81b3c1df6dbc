import Connections
import Outboxes
import PresenceCore
import PresenceWire
import PresenceXMPP

// Messages: what a client sends is stored before it is carried on with, and what it is sent is
// taken when it has answered a question that was sent behind it.

extension XMPPClient {
    /// Has a message stored for its recipient.
    func write(_ message: WrittenMessage, _ head: StanzaHead, _ clients: inout Clients) {
        let expirySeconds = clients.configuration.engine.limits.messageExpirySecondsDefault
        ask(for: .message(head, message), &clients) { texts in
            let stanza = message.parts.map { texts.add($0) }
            return .send(
                account: nil,
                Send(
                    to: .accounts(texts.add(names: [message.account])),
                    body: texts.add(message.body), ref: message.ref.map { texts.add($0) },
                    stanza: stanza, expirySeconds: expirySeconds, isCopied: message.isCopied))
        }
    }

    /// A message of the client is stored. If it is for one client of the recipient, the other ones
    /// are sent copies.
    func copy(_ message: WrittenMessage, _ sent: Sent, _ clients: inout Clients) {
        guard message.isCopied, !message.parts.addressed.isEmpty, let sender else { return }
        let delivered = DeliveredMessage(
            id: sent.message, from: sender.account, fromDevice: sender.device, time: sent.time,
            body: message.body, ref: message.ref ?? [], stanza: message.parts)
        var received = StanzaTemplate()
        received.appendCopy(ofReceived: delivered, id: sent.message.text)
        clients.inbound.append(
            .copy(
                CopiedMessage(
                    connection: clients.connectionID(slot), account: message.account,
                    device: message.parts.addressed, sender: sender.account,
                    received: received)))
    }

    // MARK: Taking

    /// The client has answered an iq of the service: it may take messages.
    func answered(_ id: [UInt8]?, _ clients: inout Clients) {
        guard let id, let number = Self.number(ofPing: id[...]) else { return }
        untaken.noteAnswering()
        take(untaken.take(pingNumber: number), &clients)
    }

    /// The client of a WebSocket has answered a ping.
    func answered(pong payload: [UInt8], _ clients: inout Clients) {
        untaken.noteAnswering()
        guard awaiting == nil, let number = UInt64(String(decoding: payload, as: UTF8.self)) else {
            return
        }
        take(untaken.take(pingNumber: number), &clients)
    }

    /// The client has acknowledged stanzas.
    func acknowledged(_ clients: inout Clients) {
        guard let management = stream.management else { return }
        untaken.noteAnswering()
        take(untaken.take { management.isAcknowledged($0) }, &clients)
    }

    /// The number of the ping that an answer is for; nil: it is for something else.
    private static func number(ofPing id: ArraySlice<UInt8>) -> UInt64? {
        for name in ["taken-", "ping-"] where id.starts(with: name.utf8) {
            return UInt64(String(decoding: id.dropFirst(name.utf8.count), as: UTF8.self))
        }
        return nil
    }

    private func take(_ last: MessageID?, _ clients: inout Clients) {
        guard let last else { return }
        ask(for: .taking(last), &clients) { _ in .take(last) }
    }

    /// Looks at what the kernel of a client that does not answer has acknowledged, if it is time.
    func lookAtDelivery(_ clients: inout Clients) {
        guard clients.table.phase(of: slot) == .serving else { return }
        let now = clients.now().mono
        switch untaken.look(clients.table.delivery(of: slot), at: now) {
        case nil: break
        case .again(let time): clients.table.remind(slot, at: time)
        case .taken:
            // Its request in progress is answered first.
            guard awaiting == nil else {
                let time = now.advanced(byMilliseconds: UntakenMessages.lookMilliseconds)
                return clients.table.remind(slot, at: time)
            }
            take(untaken.takeQuestion(), &clients)
        }
    }

    /// The client was sent messages.
    fileprivate func noteSent(_ last: MessageID, _ clients: inout Clients) {
        untaken.last = last
        askIfReceived(&clients)
    }

    /// Asks the client whether it has what it was sent, unless it was asked before. Any answer
    /// says so: it has read what was in front of the question.
    func askIfReceived(_ clients: inout Clients) {
        guard let last = untaken.lastToAsk, sender != nil else { return }
        // The other two are answered by the client, behind any proxy.
        let canLook = webSocket == nil && stream.management == nil
        let kind: UntakenMessages.Kind =
            canLook && untaken.answering == .silent
            ? .ping(nextNumber()) : sendQuestion(&clients)
        let lookTime = untaken.ask(
            kind, about: last, canLook: canLook, at: clients.now().mono)
        if let lookTime { clients.table.remind(slot, at: lookTime) }
    }

    /// Asks the client something that it answers when it has read what is in front of that.
    private func sendQuestion(_ clients: inout Clients) -> UntakenMessages.Kind {
        if let management = stream.management {
            var request: [UInt8] = []
            request.appendManagementRequest()
            push(request.span, &clients)
            return .management(management.sent)
        }
        let number = nextNumber()
        if webSocket != nil {
            clients.sendPing(to: slot, Array(String(number).utf8))
        } else if let sender {
            var ping: [UInt8] = []
            ping.appendPing("taken", number: number, to: sender)
            push(ping.span, &clients)
        }
        return .ping(number)
    }
}

extension Clients {
    /// Sends XMPP clients messages.
    mutating func deliverMessages(
        _ stanzas: BatchIndex<Stanzas>, last: MessageID, of shared: borrowing SharedOutput,
        to receivers: ArraySlice<UInt32>
    ) {
        for receiver in receivers where table.phase(of: Int(receiver)) == .serving {
            guard let client = protocols[Int(receiver)].client else { continue }
            var filled = DomainStanzas()
            filled.fill(
                shared.part(of: stanzas), of: shared.stanzas, at: client.stream.domain)
            push(filled, to: client.slot)
            // It may have been closed as too slow.
            guard table.phase(of: client.slot) == .serving else { continue }
            client.noteSent(last, &self)
        }
    }
}
