import Connections
import Containers
import PresenceCore
import PresenceWire

// What differs with the protocol of a client. Each function is written once for each protocol, in
// the protocol's folder, and is chosen here, over all protocols: so one that lacks a function does
// not compile. What has no client is sent nothing.

extension Clients {
    private func speaker(_ slot: Int) -> Speaker { protocols.span[slot].speaker }

    // MARK: Input

    /// Takes the next part of what a client has sent. What the engine host is asked is in `inbound`
    /// then.
    mutating func readNext(
        _ chunk: RawSpan, from offset: inout Int, in slot: Int
    ) -> InputStep {
        switch speaker(slot) {
        case .none: .ended
        case .native: readMessage(chunk, from: &offset, in: slot)
        case .xmpp(let client): client.readStanza(chunk, from: &offset, &self)
        }
    }

    /// A message has begun that is not complete.
    mutating func beginArrival(of slot: Int) {
        switch speaker(slot) {
        case .none, .native: break
        case .xmpp(let client): client.beginArrival()
        }
    }

    /// The rest of a message has not arrived in time.
    mutating func periodEnded(of slot: Int) {
        switch speaker(slot) {
        case .none: break
        case .native: nativePeriodEnded(of: slot)
        case .xmpp(let client): client.periodEnded(&self)
        }
    }

    /// Carries out what a client has sent too fast, and looks at what it has, if it is time.
    mutating func carryOutPaced(_ slot: Int) {
        switch speaker(slot) {
        case .none, .native: break
        case .xmpp(let client):
            client.carryOutPaced(&self)
            client.lookAtDelivery(&self)
        }
    }

    // MARK: Answers

    /// Answers the request that a client waits for.
    mutating func answer(_ slot: Int, _ answer: Answer, in effects: borrowing Effects) {
        let outboxBytes = table.outboxBytes(of: slot)
        switch speaker(slot) {
        case .none: endMismatched(slot)
        case .native: answerNative(slot, answer, in: effects)
        case .xmpp(let client): client.answer(answer, in: effects, &self)
        }
        chargeAnswer(slot, since: outboxBytes)
    }

    /// Rejects the request that a client waits for.
    mutating func reject(_ slot: Int, _ rejection: Rejection, in effects: borrowing Effects) {
        switch speaker(slot) {
        case .none: endMismatched(slot)
        case .native: rejectNative(slot, rejection, in: effects)
        case .xmpp(let client): client.reject(rejection, &self)
        }
    }

    /// Answers a question about the service, or a change of a password.
    mutating func answer(_ slot: Int, _ answer: QuestionAnswer, in effects: borrowing Effects) {
        let outboxBytes = table.outboxBytes(of: slot)
        switch speaker(slot) {
        case .none: endMismatched(slot)
        case .native: answerNative(slot, answer, in: effects)
        case .xmpp(let client): client.answer(answer, &self)
        }
        chargeAnswer(slot, since: outboxBytes)
    }

    /// Continues with a client whose credentials were checked.
    mutating func answer(_ slot: Int, _ answer: CredentialAnswer) {
        switch speaker(slot) {
        case .none, .native: endMismatched(slot)
        case .xmpp(let client): client.take(answer, &self)
        }
    }

    /// Continues with a client that has asked for a card, or replaced its own.
    mutating func answer(_ slot: Int, _ answer: CardAnswer) {
        let outboxBytes = table.outboxBytes(of: slot)
        switch speaker(slot) {
        case .none, .native: endMismatched(slot)
        case .xmpp(let client): client.take(answer, &self)
        }
        chargeAnswer(slot, since: outboxBytes)
    }

    // MARK: Events

    /// Sends a client states, in as many messages as the limits require.
    mutating func sendStates(
        _ states: Range<Int>, of list: EventList, to slot: Int, in effects: borrowing Effects
    ) {
        switch speaker(slot) {
        case .none: break
        case .native: sendNativeStates(states, of: list, to: slot, in: effects)
        case .xmpp(let client): client.sendStates(states, in: effects, &self)
        }
    }

    /// Tells a client that its login list is complete. XMPP has no word for that.
    mutating func sendSynced(to slot: Int, count: Int) {
        switch speaker(slot) {
        case .none, .xmpp: break
        case .native: send(to: slot) { $0.appendSyncedBody(count: count) }
        }
    }

    /// Sends a feed reader its next share.
    mutating func send(_ message: FeedMessage, to slot: Int, from shared: borrowing SharedOutput) {
        switch speaker(slot) {
        case .none, .xmpp: endMismatched(slot)
        case .native: sendNative(message, to: slot, from: shared)
        }
    }

    /// Sends a message that must not be dropped to all receivers but XMPP clients.
    mutating func deliverAll(_ body: [UInt8], to receivers: ArraySlice<UInt32>) {
        for receiver in receivers where table.phase(of: Int(receiver)) == .serving {
            switch speaker(Int(receiver)) {
            case .none, .xmpp: break
            case .native: push(body.span, to: Int(receiver))
            }
        }
    }

    // MARK: Signs of life

    /// Asks a client for a sign of life.
    mutating func askForSign(of slot: Int) {
        switch speaker(slot) {
        case .none: break
        case .native: sendPing(to: slot)
        case .xmpp(let client): client.sendPing(&self)
        }
    }

    /// How long a client may be silent.
    func patience(of slot: Int) -> Patience {
        switch speaker(slot) {
        case .none, .native: nativePatience(of: slot)
        case .xmpp(let client): client.patience
        }
    }

    /// Within how many seconds a client must log in.
    func loginSeconds(of slot: Int) -> Int {
        switch speaker(slot) {
        case .none, .native: configuration.connection.loginSeconds
        case .xmpp: configuration.connection.xmppLoginSeconds
        }
    }

    /// Other settings are in force.
    mutating func applied(to slot: Int) {
        switch speaker(slot) {
        case .none, .native: break
        // What they have said while messages were off took nothing.
        case .xmpp(let client): client.askIfReceived(&self)
        }
    }

    /// Begins TLS if a client that has not logged in waits for that, now that everything is
    /// written. Returns whether it did.
    mutating func beginTLSIfDue(of slot: Int) -> Bool {
        switch speaker(slot) {
        case .none, .native: false
        case .xmpp(let client): client.beginTLSIfDue(&self)
        }
    }

    // MARK: Ending

    /// Sends the peer the reason, and closes the connection when that has been written.
    mutating func close(
        _ slot: Int, _ reason: CloseReason?, retryAfterSeconds: Int? = nil,
        by message: CloseMessage = .notification
    ) {
        switch table.phase(of: slot) {
        case .free, .closing: return
        case .anonymous, .serving, .ending: break
        }
        switch speaker(slot) {
        case .none: break
        case .native:
            closeNative(slot, reason, retryAfterSeconds: retryAfterSeconds, by: message)
        case .xmpp(let client): client.close(reason, &self)
        }
    }

    /// Writes the reason to a connection that is closed at once.
    mutating func writeLastWords(to slot: Int, _ reason: CloseReason) {
        switch speaker(slot) {
        case .none: break
        case .native: writeNativeLastWords(to: slot, reason)
        case .xmpp(let client):
            let words = client.lastWords(reason, &self)
            table.writeLast(to: slot) { $0 += words }
        }
    }

    /// Forgets the protocol of a connection that is closed.
    mutating func freeProtocol(of slot: Int) {
        switch speaker(slot) {
        case .none, .native: break
        case .xmpp: xmpp?.clientCount -= 1
        }
        protocols[slot] = .none
    }
}
