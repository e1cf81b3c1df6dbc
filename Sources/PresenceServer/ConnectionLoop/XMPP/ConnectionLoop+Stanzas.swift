import PresenceCore
import PresenceWire
import PresenceXMPP
import XML

// Stanzas of bound XMPP clients: what the loop answers alone, and what becomes a command of the
// engine.

extension ConnectionLoop where Link: ~Copyable {
    /// Carries out a request of a stanza.
    mutating func carryOut(
        _ request: XMPPRequest, _ head: StanzaHead, _ stanza: XMLElement,
        of client: XMPPConnection, in slot: Int, at now: Moment
    ) {
        guard let sender = client.sender else { return }
        switch request {
        case .show(let availability):
            show(availability, head, in: slot)
        case .hide(let farewell):
            client.paced.presence = nil
            ask(slot, for: .hiding(head, farewell)) { _ in .hide(farewell: farewell) }
        case .probe(let account):
            ask(slot, for: .availability(head)) { .probe($0.add(account)) }
        case .relate(let account, let action):
            relate(RelationChange(account: account, action: action), head, in: slot)
        case .direct(let account, let device, let presentation):
            direct(presentation, to: account, device, head, of: sender, in: slot)
        case .discoverFeatures(let account?) where account != sender.account:
            ask(slot, for: .discovery(head, .features)) { .sees($0.add(account)) }
        case .discoverItems(let account?) where account != sender.account:
            ask(slot, for: .discovery(head, .items)) { .sees($0.add(account)) }
        case .lastSeen(let account) where account != sender.account:
            ask(slot, for: .lastSeen(head)) { .lastSeen($0.add(account)) }
        case .relayIQ(let account, let device, let wantsAnswer):
            var bytes: [UInt8] = []
            guard bytes.appendIQ(stanza, from: sender, bytesMax: relayedBytesMax) else {
                return refuseLong(head, sender, in: slot)
            }
            wait(slot, for: .relay(wantsAnswer ? head : nil))
            inbound.append(
                .relay(
                    RelayedStanza(
                        connection: connectionID(slot), account: account, device: device,
                        id: head.id ?? [], isRequest: wantsAnswer, bytes: bytes)))
        case .changePassword(let typed):
            changePassword(typed, head, of: sender, in: slot)
        case .listContacts:
            // In one piece: a push must not be older than a part of the result that follows it.
            ask(slot, for: .roster(head)) { _ in
                .contacts(account: nil, ListContacts(entriesMax: .max))
            }
        default:
            answerAlone(request, head, sender, in: slot, at: now)
        }
    }

    /// The most bytes of a stanza as another client is sent it; with `RelayedPaces` this bounds
    /// what strangers can have a client on a slow line receive.
    var relayedBytesMax: Int { 8_192 }

    /// Refuses to relay a stanza.
    mutating func refuseLong(_ head: StanzaHead, _ sender: StanzaSender, in slot: Int) {
        let error = StanzaError.tooLong(
            "A stanza for another client has at most \(relayedBytesMax) bytes, and names of "
                + "namespaces in it are URIs without brackets and percent signs.")
        counters.stanzaErrors.count(error.condition)
        send(to: slot) { $0.append(error, head, to: sender) }
    }

    /// Answers what needs no engine.
    private mutating func answerAlone(
        _ request: XMPPRequest, _ head: StanzaHead, _ sender: StanzaSender, in slot: Int,
        at now: Moment
    ) {
        guard let xmpp else { return }
        let description = xmpp.description
        switch request {
        case .ping:
            send(to: slot) { $0.appendResult(head, to: sender) }
        case .discoverFeatures(nil):
            let canChangePassword = canChangePassword(slot)
            send(to: slot) {
                $0.appendServiceFeatures(
                    head, to: sender, description, canChangePassword: canChangePassword)
            }
        case .discoverFeatures(sender.account): discover(.features, head, sender, in: slot)
        case .discoverItems(nil), .discoverItems(sender.account):
            discover(.items, head, sender, in: slot)
        case .registrationForm where canChangePassword(slot):
            send(to: slot) { $0.appendRegistrationForm(head, to: sender) }
        case .uptime:
            let seconds = Int((now.mono.milliseconds - xmpp.begun.milliseconds) / 1_000)
            send(to: slot) { $0.appendLast(head, to: sender, seconds: seconds) }
        case .lastSeen(sender.account):
            send(to: slot) { $0.appendLast(head, to: sender, seconds: 0) }
        case .version:
            send(to: slot) { $0.appendVersion(head, to: sender, description) }
        case .time:
            send(to: slot) { $0.appendTime(head, to: sender, now.wall) }
        default:
            guard let error = Self.refusal(of: request) else { return }
            counters.stanzaErrors.count(error.condition)
            send(to: slot) { $0.append(error, head, to: sender) }
        }
    }

    /// Tells what an account has that the client sees.
    mutating func discover(
        _ subject: Discovered, _ head: StanzaHead, _ sender: StanzaSender, in slot: Int
    ) {
        switch subject {
        case .features: send(to: slot) { $0.appendAccountFeatures(head, to: sender) }
        case .items: send(to: slot) { $0.appendNoItems(head, to: sender) }
        }
    }

    /// The error with which a request is answered that is not carried out; nil: none is due.
    private static func refusal(of request: XMPPRequest) -> StanzaError? {
        switch request {
        case .lastSeen: .forbidden
        case .registrationForm: .passwordsNotChanged
        case .unregister: .notAllowed
        case .answer, .ignore: nil
        default: .serviceUnavailable
        }
    }
}
