import Connections
import Containers
import PresenceCore
import PresenceWire
import PresenceXMPP

// Answers and rejections of the engine host, as stanzas.

extension XMPPClient {
    /// Answers what the client waits for.
    func answer(_ answer: Answer, in effects: borrowing Effects, _ clients: inout Clients) {
        guard let request = awaiting else { return clients.endMismatched(slot) }
        paced.requestEnded()
        switch (request, answer) {
        case (.bind, .loggedIn(let login)): beginServing(login, &clients)
        case (.relation(let head, let change), .related) where change.isAnswered:
            respond(&clients) { $0.appendResult(head, to: $1) }
        case (.carbons(let head), .done):
            respond(&clients) { $0.appendResult(head, to: $1) }
        case (.roster(let head), .contacts(let entries, _, _)):
            sendRoster(entries, head, in: effects, &clients)
        case (.lastSeen(let head), .lastSeen(let time)):
            let now = clients.now().wall.milliseconds
            let seconds = time.map { Int((now - $0.milliseconds) / 1_000) } ?? 0
            respond(&clients) { $0.appendLast(head, to: $1, seconds: seconds) }
        case (.discovery(let head, let subject), .done):
            discover(subject, head, &clients)
        case (.hiding(_, let farewell), .shown(.ends)):
            // RFC 6121, 4.5.2: as each available resource of the account, this one included.
            respond(&clients) { $0.appendUnavailable(farewell, of: $1) }
        case (.presence, .shown(.begins)):
            clients.table.updateList(of: slot) { $0.beginList() }
        case (.taking, .taken): askIfReceived(&clients)
        case (.message(_, let message), .sent(let sent)): copy(message, sent, &clients)
        // Before the end of its side, which may have been read meanwhile, is acted on.
        case (.logout, .loggedOut): return close(nil, &clients)
        // What is not answered.
        case (.presence, .shown), (.presence, .availabilitySet), (.hiding, .shown),
            (.relation, .related), (.relation, .done), (.availability, .done), (.relay, .done),
            (.relayedMessage, .done):
            break
        default: return clients.endMismatched(slot)
        }
        clients.settle(slot)
    }

    private func beginServing(_ login: LoggedIn, _ clients: inout Clients) {
        clients.counters.loginsOfClients += 1
        bind()
        var bareJID: [UInt8] = []
        bareJID.appendJID(of: stream.account, at: stream.domain)
        clients.table.setVariant(
            of: slot, webSocket == nil ? .presences(atDomain: domainPlace) : .webSocketOfXMPP,
            gapText: bareJID)
        flushStream(&clients)
        clients.table.updateList(of: slot) { $0.beginList() }
        clients.setAccount(of: slot, stream.account)
        clients.beginServing(slot)
        if let term = login.term { clients.limit(slot, to: term) }
    }

    private func sendRoster(
        _ entries: Range<Int>, _ head: StanzaHead, in effects: borrowing Effects,
        _ clients: inout Clients
    ) {
        respond(&clients) { result, sender in
            result.appendRosterStart(head, to: sender)
            for index in entries where effects.contacts[index].isContact {
                result.append(RosterItem(effects.contacts[index], in: effects), at: sender.domain)
            }
            result.appendRosterEnd()
        }
    }

    /// Answers a client that has changed the password of its account.
    func answer(_ answer: QuestionAnswer, _ clients: inout Clients) {
        guard case .password(let head, let remark) = awaiting, case .passwordSet = answer else {
            return clients.endMismatched(slot)
        }
        respond(&clients) { $0.appendPasswordChanged(head, to: $1, remark) }
        clients.settle(slot)
    }

    /// Rejects what the client waits for.
    func reject(_ rejection: Rejection, _ clients: inout Clients) {
        guard let request = awaiting else { return clients.endMismatched(slot) }
        if keep(request, after: rejection, &clients) {
            // A request is waited for until it is tried again.
            guard paced.request == nil else { return }
            return clients.settle(slot)
        }
        paced.requestEnded()
        clients.count(rejection, of: slot)
        switch request {
        case .encryption: break
        case .authentication:
            rejectAuthentication(SASLFailure(rejection), rejection.wordsOfWait, &clients)
        case .registration:
            stream.reject(registration: StanzaError(rejection))
            flushStream(&clients)
        case .bind: rejectBind(rejection, &clients)
        // The stream has ended already.
        case .logout:
            flushStream(&clients)
            clients.end(slot, .logout, .lost, .inOrder)
        case .taking(let last): untaken.keep(last)
        case .relayedMessage where rejection.reason != .rateLimited: break
        case .message, .relay, .relayedMessage, .discovery, .presence, .availability, .hiding,
            .relation, .password,
            .lastSeen, .roster, .card, .carbons:
            if let head = request.head { send(request.error(rejection), head, &clients) }
        }
        guard clients.table.phase(of: slot) != .closing else { return }
        clients.settle(slot)
    }

    private func rejectBind(_ rejection: Rejection, _ clients: inout Clients) {
        // Only after the authentication has succeeded, so it is not the password that is wrong.
        let isVoid = rejection.reason == .invalidPassword
        let error = isVoid ? .passwordChanged : StanzaError(rejection)
        clients.counters.stanzaErrors.count(error.condition)
        let last = stream.reject(bind: error)
        flushStream(&clients)
        if let last { endStream(after: last, &clients) }
    }
}

extension XMPPRequestInProgress {
    /// The error with which a rejected request is answered.
    fileprivate func error(_ rejection: Rejection) -> StanzaError {
        switch self {
        case .relay where rejection.reason != .rateLimited: .serviceUnavailable
        // The sender must not learn which accounts it may see.
        case .message where rejection.isOfReceiver: .serviceUnavailable
        // As of an account that does not exist.
        case .discovery where rejection.reason == .forbidden: .serviceUnavailable
        default: StanzaError(rejection)
        }
    }
}

extension Rejection {
    /// Whether a message is rejected because of its recipient, or because there are none.
    fileprivate var isOfReceiver: Bool {
        switch reason {
        case .notPermitted, .inboxFull, .forbidden: true
        default: false
        }
    }
}
