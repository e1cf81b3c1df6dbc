import Connections
import Outboxes
import PresenceCore
import PresenceXMPP

// Messages: what a client sends is stored before it is carried on with, and what it is sent is
// taken when it has answered a ping that was sent behind it.

/// What an XMPP client was sent of the messages for it, and may not have received.
struct UntakenMessages {
    /// The last message that it was sent, if it was not asked about it.
    var last: MessageID?
    /// The ping that it was sent and has not answered, and the last message before it.
    var asked: (number: UInt64, last: MessageID)?

    /// The last message that the answer with this id takes; nil: it answers something else.
    mutating func take(_ id: [UInt8]?) -> MessageID? {
        guard let asked, let id, id == Array("taken-\(asked.number)".utf8) else { return nil }
        self.asked = nil
        return asked.last
    }

    /// A message was not taken, since messages are off: the client is asked about it again.
    mutating func keep(_ message: MessageID) { last = last ?? message }
}

extension XMPPClient {
    /// Has a message stored for its recipient.
    func write(_ message: WrittenMessage, _ head: StanzaHead, _ clients: inout Clients) {
        let expirySeconds = clients.configuration.engine.limits.messageExpirySecondsDefault
        ask(for: .message(head), &clients) { texts in
            let stanza = message.parts.map { texts.add($0) }
            return .send(
                account: nil,
                Send(
                    to: .accounts(texts.add(names: [message.account])),
                    body: texts.add(message.body), ref: message.ref.map { texts.add($0) },
                    stanza: stanza, expirySeconds: expirySeconds))
        }
    }

    /// The client has answered an iq of the service: it may take messages.
    func answered(_ id: [UInt8]?, _ clients: inout Clients) {
        guard let last = untaken.take(id) else { return }
        ask(for: .taking(last), &clients) { _ in .take(last) }
    }

    /// The client was sent messages.
    fileprivate func noteSent(_ last: MessageID, _ clients: inout Clients) {
        untaken.last = last
        askIfReceived(&clients)
    }

    /// Asks the client whether it has what it was sent, unless it was asked before. Any answer
    /// says so: it has read what was in front of the question.
    func askIfReceived(_ clients: inout Clients) {
        guard untaken.asked == nil, let last = untaken.last, let sender else { return }
        let number = nextNumber()
        untaken.asked = (number, last)
        untaken.last = nil
        var ping: [UInt8] = []
        ping.appendPing("taken", number: number, to: sender)
        push(ping.span, &clients)
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
