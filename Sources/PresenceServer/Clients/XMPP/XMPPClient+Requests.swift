import PresenceCore
import PresenceWire
import PresenceXMPP
import XML

// Stanzas of bound XMPP clients: what is answered here, and what becomes a command of the engine.

extension XMPPClient {
    /// Carries out a request of a stanza.
    func carryOut(
        _ request: XMPPRequest, _ head: StanzaHead, _ stanza: XMLElement, _ clients: inout Clients
    ) {
        guard let sender else { return clients.endMismatched(slot) }
        switch request {
        case .show(let availability):
            show(availability, head, &clients)
        case .hide(let farewell):
            paced.presence = nil
            ask(for: .hiding(head, farewell), &clients) { _ in .hide(farewell: farewell) }
        case .setCarbons(let isOn):
            ask(for: .carbons(head), &clients) { _ in .setCopies(areSent: isOn) }
        case .probe(let account):
            ask(for: .availability(head), &clients) { .probe($0.add(account)) }
        case .relate(let account, let action):
            relate(RelationChange(account: account, action: action), head, &clients)
        case .direct(let account, let device, let presentation):
            direct(presentation, to: account, device, head, of: sender, &clients)
        case .discoverFeatures(let account?) where account != sender.account:
            ask(for: .discovery(head, .features), &clients) { .sees($0.add(account)) }
        case .discoverItems(let account?) where account != sender.account:
            ask(for: .discovery(head, .items), &clients) { .sees($0.add(account)) }
        case .lastSeen(let account) where account != sender.account:
            ask(for: .lastSeen(head), &clients) { .lastSeen($0.add(account)) }
        case .relayIQ(let account, let device, let wantsAnswer):
            relay(stanza, head, of: sender, to: account, device, wantsAnswer, &clients)
        case .card(let account):
            handle(.read(account: account), head, &clients)
        case .setCard(let content):
            handle(.replace(content), head, &clients)
        case .send(let message): write(message, head, &clients)
        case .relayMessage(let message):
            relayMessage(stanza, head, of: sender, message, &clients)
        case .answer: answered(head.id, &clients)
        case .changePassword(let typed):
            changePassword(typed, head, of: sender, &clients)
        case .listContacts:
            // In one piece: a push must not be older than a part of the result that follows it.
            ask(for: .roster(head), &clients) { _ in
                .contacts(account: nil, ListContacts(entriesMax: .max))
            }
        default:
            answerAlone(request, head, sender, &clients)
        }
    }

    /// The most bytes of a stanza as another client is sent it; with `RelayedPaces` this bounds
    /// what strangers can have a client on a slow line receive.
    static var relayedBytesMax: Int { 8_192 }

    private func relay(
        _ stanza: XMLElement, _ head: StanzaHead, of sender: StanzaSender, to account: [UInt8],
        _ device: [UInt8], _ wantsAnswer: Bool, _ clients: inout Clients
    ) {
        var relayed = StanzaTemplate()
        guard relayed.appendRelayed(stanza, from: sender, bytesMax: Self.relayedBytesMax) else {
            return rejectLong(head, &clients)
        }
        wait(for: .relay(wantsAnswer ? head : nil))
        clients.inbound.append(
            .relay(
                RelayedStanza(
                    connection: clients.connectionID(slot), account: account, device: device,
                    isForAnyDevice: false, copies: nil, id: head.id ?? [],
                    kind: wantsAnswer ? .question : .answer, stanza: relayed)))
    }

    /// Relays a message that is not stored. Nothing is said of what no user has written.
    private func relayMessage(
        _ stanza: XMLElement, _ head: StanzaHead, of sender: StanzaSender,
        _ message: RelayedMessage, _ clients: inout Clients
    ) {
        var relayed = StanzaTemplate()
        guard relayed.appendRelayed(stanza, from: sender, bytesMax: Self.relayedBytesMax) else {
            return message.isWritten ? rejectLong(head, &clients) : ()
        }
        wait(for: .relayedMessage(message.isWritten ? head : nil))
        clients.inbound.append(
            .relay(
                RelayedStanza(
                    connection: clients.connectionID(slot), account: message.account,
                    device: message.device, isForAnyDevice: message.isForAnyDevice,
                    copies: message.isCopied ? copies(of: relayed, stanza, by: sender) : nil,
                    id: [],
                    kind: .message, stanza: relayed)))
    }

    /// The copies of a message for other clients of its sender and of its recipient.
    private func copies(
        of relayed: borrowing StanzaTemplate, _ stanza: XMLElement, by sender: StanzaSender
    ) -> RelayedCopies {
        let isChat = stanza.attribute("type")?.isEqual(to: "chat") ?? false
        var copies = RelayedCopies(sender: sender.account)
        copies.sent.appendCopy(.sent, of: relayed, isChat: isChat)
        copies.received.appendCopy(.received, of: relayed, isChat: isChat)
        return copies
    }

    /// Rejects a stanza that is to be relayed.
    func rejectLong(_ head: StanzaHead, _ clients: inout Clients) {
        let error = StanzaError.tooLong(
            "A stanza for another client has at most \(Self.relayedBytesMax) bytes, and names of "
                + "namespaces in it are URIs without brackets and percent signs.")
        send(error, head, &clients)
    }

    /// Answers what needs no engine.
    private func answerAlone(
        _ request: XMPPRequest, _ head: StanzaHead, _ sender: StanzaSender,
        _ clients: inout Clients
    ) {
        guard let xmpp = clients.xmpp else { return }
        switch request {
        case .ping:
            send(&clients) { $0.appendResult(head, to: sender) }
        case .discoverFeatures(nil):
            let canChangePassword = canChangePassword(clients)
            send(&clients) {
                $0.appendServiceFeatures(
                    head, to: sender, xmpp.description, canChangePassword: canChangePassword)
            }
        case .discoverFeatures(sender.account): discover(.features, head, &clients)
        case .discoverItems(nil), .discoverItems(sender.account):
            discover(.items, head, &clients)
        case .registrationForm where canChangePassword(clients):
            send(&clients) { $0.appendRegistrationForm(head, to: sender) }
        case .uptime:
            let now = clients.now().mono
            let seconds = Int((now.milliseconds - xmpp.begun.milliseconds) / 1_000)
            send(&clients) { $0.appendLast(head, to: sender, seconds: seconds) }
        case .lastSeen(sender.account):
            send(&clients) { $0.appendLast(head, to: sender, seconds: 0) }
        case .version:
            send(&clients) { $0.appendVersion(head, to: sender, xmpp.description) }
        case .time:
            let now = clients.now().wall
            send(&clients) { $0.appendTime(head, to: sender, now) }
        default:
            if let error = Self.rejection(of: request) { send(error, head, &clients) }
        }
    }

    /// Answers what an account that the client sees has.
    func discover(_ subject: Discovered, _ head: StanzaHead, _ clients: inout Clients) {
        switch subject {
        case .features: respond(&clients) { $0.appendAccountFeatures(head, to: $1) }
        case .items: respond(&clients) { $0.appendNoItems(head, to: $1) }
        }
    }

    /// The error with which a request is answered that is not carried out; nil: none is due.
    private static func rejection(of request: XMPPRequest) -> StanzaError? {
        switch request {
        case .lastSeen: .forbidden
        case .registrationForm: .passwordsNotChanged
        case .unregister: .notAllowed
        case .answer, .ignore: nil
        default: .serviceUnavailable
        }
    }
}
