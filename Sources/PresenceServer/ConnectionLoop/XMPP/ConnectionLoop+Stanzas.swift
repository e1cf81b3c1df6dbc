import PresenceCore
import PresenceWire
import PresenceXMPP

// Stanzas of bound XMPP clients: what the loop answers alone, and what becomes a command of the
// engine.

extension ConnectionLoop where Link: ~Copyable {
    /// Carries out a stanza.
    mutating func read(
        _ stanza: Stanza, of client: XMPPConnection, in slot: Int, at now: Moment
    ) {
        counters.stanzas.count(stanza.kind)
        guard let sender = client.sender, let decoder = xmpp?.decoder else { return }
        switch decoder.decode(stanza, from: sender) {
        case .request(let request, let head):
            carryOut(request, head, of: client, sender, in: slot, at: now)
        case .refused(let error, let head):
            send(to: slot) { $0.append(error, head, to: sender) }
        case .invalidFrom:
            closeStream(slot, StreamFault(.policyViolation, "The `from` is another's."))
        }
    }

    /// Closes a stream for what its client has sent.
    private mutating func closeStream(_ slot: Int, _ fault: StreamFault) {
        guard let client = xmpp?[slot], let service = xmpp?.service else { return }
        var random = SystemRandomNumberGenerator()
        client.stream.close(fault, of: service, using: &random)
        counters.violations += 1
        counters.streamErrors.count(fault.condition)
        say(slot)
        end(slot, .protocolViolation, .violation, .whenWritten(code: nil))
    }

    private mutating func carryOut(
        _ request: XMPPRequest, _ head: StanzaHead, of client: XMPPConnection,
        _ sender: StanzaSender, in slot: Int, at now: Moment
    ) {
        switch request {
        case .show(let availability):
            let isFirst = !client.hasShown
            client.hasShown = true
            ask(slot, for: .availability(head, isFirst: isFirst), at: now) { _ in
                .setAvailability(availability)
            }
        case .relate(let account, let word, let text):
            ask(slot, for: .word(head), at: now) { texts in
                .relate(account: nil, contact: texts.add(account), .say(word, text: text))
            }
        case .listContacts:
            client.isInterested = true
            var result: [UInt8] = []
            result.appendRosterStart(head, to: sender)
            askForContacts(slot, for: .roster(head, result), after: nil, at: now)
        case .putContact(let account, let name, let groups):
            guard let label = ContactLabel(name: name, groups: groups) else {
                return send(to: slot) {
                    $0.append(.notAcceptable("The name or a group is invalid."), head, to: sender)
                }
            }
            ask(slot, for: .change(head, isRemoval: false), at: now) { texts in
                .relate(account: nil, contact: texts.add(account), .describe(label))
            }
        case .removeContact(let account):
            ask(slot, for: .change(head, isRemoval: true), at: now) { texts in
                .relate(account: nil, contact: texts.add(account), .remove)
            }
        default:
            answerAlone(request, head, sender, in: slot, at: now)
        }
    }

    /// Asks for a page of the contacts of a client.
    mutating func askForContacts(
        _ slot: Int, for question: XMPPQuestion, after cursor: UInt64?, at now: Moment
    ) {
        let countMax = configuration.engine.limits.pageEntriesMax
        ask(slot, for: question, at: now) { _ in
            .contacts(account: nil, ListContacts(cursor: cursor, entriesMax: countMax))
        }
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
            send(to: slot) { $0.appendServiceFeatures(head, to: sender, description) }
        case .discoverFeatures(sender.account):
            send(to: slot) { $0.appendAccountFeatures(head, to: sender) }
        case .discoverItems(nil), .discoverItems(sender.account):
            send(to: slot) { $0.appendNoItems(head, to: sender) }
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
            send(to: slot) { $0.append(error, head, to: sender) }
        }
    }

    /// The error with which a request is answered that is not carried out; nil: none is due.
    private static func refusal(of request: XMPPRequest) -> StanzaError? {
        switch request {
        case .lastSeen: .forbidden
        case .registrationForm, .changePassword, .unregister: .notAllowed
        case .relayIQ(_, _, wantsAnswer: false), .answer, .ignore, .probe, .direct, .hide: nil
        default: .serviceUnavailable
        }
    }
}
