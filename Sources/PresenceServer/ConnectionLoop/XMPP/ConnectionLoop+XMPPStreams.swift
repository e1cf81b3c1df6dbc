import EventLoop
import Logging
import Outboxes
import PresenceCore
import PresenceWire
import PresenceXMPP
import XML

// Streams of XMPP clients: bytes in, and what the stream has understood of them. A question to the
// engine host is a request in progress, as a native one is: nothing is read until its answer.

extension ConnectionLoop where Link: ~Copyable {
    /// Begins a connection of a listener for XMPP.
    mutating func enterXMPP(_ slot: Int, on listener: ListenerKind) {
        connections[slot].framing = .xmpp
        counters.xmppAccepted += 1
        xmpp?.add(slot, isEncrypted: listener.isEncrypted)
    }

    /// Processes what a stream has received, until it needs more or something has to wait.
    mutating func readStanzas(
        _ chunk: RawSpan, from offset: inout Int, in slot: Int, at now: Moment
    ) {
        guard let client = xmpp?[slot], let service = xmpp?.service else { return }
        var partCount = 0
        while isListening(slot) {
            guard mayBeRead(slot) else { return }
            guard hasTurn(slot, chunk, offset) else {
                return waitForTurn(slot, bytesAhead: chunk.byteCount - offset)
            }
            let bytesWaiting = client.stream.bytesBuffered + chunk.byteCount - offset
            let outboxBytes = connections[slot].output.outbox.count
            let heard = nextPart(of: client, service, chunk, from: &offset)
            let bytesLeft = client.stream.bytesBuffered + chunk.byteCount - offset
            // The end of the stream is said when nothing can follow it.
            if case .end = heard {} else { say(slot) }
            if case .needMore = heard {
                return watchStanza(of: client, in: slot, isNew: partCount > 0)
            }
            clearFrameDeadline(of: slot)
            hear(heard, of: client, in: slot, at: now)
            exchange(at: now)
            partCount += 1
            // 1,000 elements take up to 0.6 ms to read, to look through and to write.
            if case .request(_, _, let stanza) = heard {
                budget.spend(stanza.partCountOfStanza >> 4)
            }
            charge(slot, bytesWaiting - bytesLeft, since: outboxBytes, at: now)
        }
        clearFrameDeadline(of: slot)
    }

    private mutating func nextPart(
        of client: XMPPConnection, _ service: StreamService, _ chunk: RawSpan,
        from offset: inout Int
    ) -> Heard {
        var random = SystemRandomNumberGenerator()
        return client.stream.next(in: chunk, from: &offset, of: service, using: &random)
    }

    /// Whether input of a connection is processed in its phase.
    private func mayBeRead(_ slot: Int) -> Bool {
        connections[slot].phase == .anonymous || connections[slot].phase == .serving
    }

    private mutating func hear(
        _ heard: Heard, of client: XMPPConnection, in slot: Int, at now: Moment
    ) {
        switch heard {
        case .needMore, .keepAlive, .say: break
        case .startTLS:
            loop.stopReading(connections[slot].id)
            connections[slot].input.pause()
            wait(slot, for: .encryption)
            markDirty(slot)
        case .authenticate(let authentication):
            authenticate(authentication, client, in: slot)
        case .authenticated(let hash):
            counters.xmppLogins.count(XMPPLogin(hash))
            inbound.append(.authenticated(client.stream.account))
        case .denied(let failure, let error):
            denied(slot, failure, error)
        case .register(let account, let password):
            register(account, password, in: slot)
        case .bind(let device):
            bind(device, client, in: slot)
        case .request(let request, let head, let stanza):
            counters.stanzas.count(head.kind)
            carryOut(request, head, stanza, of: client, in: slot, at: now)
        case .refused(let error):
            counters.stanzaErrors.count(error.condition)
        case .end:
            guard connections[slot].phase == .serving else {
                say(slot)
                return end(slot, .logout, .lost, .whenWritten(code: nil))
            }
            // Until its answer there may be events in flight to the client.
            return ask(slot, for: .logout) { _ in .logout }
        case .error(let error):
            endStream(slot, after: error)
        }
        say(slot)
    }

    /// The stream has ended because of what the client has sent.
    mutating func endStream(_ slot: Int, after error: StreamError) {
        counters.violations += 1
        counters.streamErrors.count(error.condition)
        if error.condition == .hostUnknown {
            // With a domain that is set wrongly, every client is refused.
            logger.log(
                .notice, "an XMPP client asks for another domain than xmpp-domain",
                times: counters.streamErrors[.hostUnknown],
                metadata: [
                    "address": "\(String(decoding: origin(of: slot).address, as: UTF8.self))"
                ])
        }
        end(slot, .protocolViolation, .violation, .whenWritten(code: nil))
    }

    /// Nothing is read until `request` is answered.
    mutating func wait(_ slot: Int, for request: XMPPRequestInProgress) {
        xmpp?[slot]?.inProgress = request
        connections[slot].input.awaiting = .unknown
    }

    /// Has the engine carry out a command. What comes of it follows when the caller is done: an
    /// answer must not overtake what the loop is still carrying out.
    mutating func ask(
        _ slot: Int, for request: XMPPRequestInProgress, _ command: (inout RequestTexts) -> Command
    ) {
        wait(slot, for: request)
        let name = inbound.append(commandOf: connectionID(slot), command)
        counters.requests += 1
        counters.requestsByMethod.count(name)
    }

    /// Moves what the stream has said to the outbox.
    mutating func say(_ slot: Int) {
        guard let client = xmpp?[slot], !client.stream.output.isEmpty else { return }
        let bytes = client.stream.takeOutput()
        send(to: slot) { $0 += bytes }
    }

    /// Begins TLS on a connection that waits for that, and has written everything. Returns whether
    /// it did.
    mutating func beginTLSIfDue(_ slot: Int) -> Bool {
        guard let client = xmpp?[slot], case .encryption = client.inProgress,
            connections[slot].phase == .anonymous
        else { return false }
        let id = connections[slot].id
        loop.startTLS(id, listener: xmpp?.listenerOfSTARTTLS ?? 0)
        client.stream.encrypted()
        client.inProgress = nil
        connections[slot].input.awaiting = nil
        _ = connections[slot].input.goOn()
        loop.startReading(id)
        return true
    }

    /// Begins the session of a device: what a login is natively.
    private mutating func bind(
        _ device: [UInt8], _ client: XMPPConnection, in slot: Int
    ) {
        wait(slot, for: .bind)
        let login = Login(
            account: client.stream.account, device: device, client: .xmpp, sync: .none,
            hears: .approved, beginning: .hidden, address: origin(of: slot).address,
            term: client.term)
        inbound.append(.bind(connectionID(slot), login))
    }

    // MARK: Ending

    /// Tells an XMPP client why its connection ends, and closes it when that has been written. If
    /// the client has ended its stream, it is told only that ours has ended, too.
    mutating func closeStream(_ slot: Int, _ reason: CloseReason?) {
        if let reason { sayLast(slot, reason) } else { say(slot) }
        end(
            slot, reason.map(Ending.init) ?? .logout, ConnectionEnd(reason),
            .whenWritten(code: nil))
    }

    /// Ends a stream with an error that says why.
    mutating func sayLast(_ slot: Int, _ reason: CloseReason) {
        guard let client = xmpp?[slot], let service = xmpp?.service else { return }
        let error = StreamError(reason)
        counters.streamErrors.count(error.condition)
        var random = SystemRandomNumberGenerator()
        client.stream.close(error, of: service, using: &random)
        say(slot)
    }

    /// Asks a client that has been silent whether it is there. Any bytes are an answer.
    mutating func askForLife(of slot: Int) {
        guard let client = xmpp?[slot], let sender = client.sender else { return }
        let number = client.nextNumber()
        send(to: slot) { $0.appendPing(number: number, to: sender) }
    }
}

/// When XMPP clients count as silent: they are asked first, since few send anything by themselves.
enum XMPPSilence {
    /// Until a client is asked whether it is there.
    static let pingMilliseconds: UInt64 = 60_000
    /// Until its connection is closed.
    static let millisecondsMax: UInt64 = 90_000
}
