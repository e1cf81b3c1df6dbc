import Connections
import Logging
import PresenceCore
import PresenceWire
import PresenceXMPP
import XML

// Input of XMPP clients: bytes in, and what their streams have understood of them.

extension XMPPClient {
    /// Processes the next part of what the stream has received.
    func readStanza(
        _ chunk: RawSpan, from offset: inout Int, _ clients: inout Clients
    ) -> InputStep {
        guard clients.table.phase(of: slot).isOpen else { return .ended }
        if webSocket != nil { return readMessage(chunk, from: &offset, &clients) }
        let bytesWaiting = bytesBuffered + chunk.byteCount - offset
        var random = SystemRandomNumberGenerator()
        let input = stream.next(in: chunk, from: &offset, of: service, using: &random)
        let bytesLeft = bytesBuffered + chunk.byteCount - offset
        if case .needMore = input {
            flushStream(&clients)
            return .needMore
        }
        clients.clearMessageDeadline(of: slot)
        actOn(input, &clients)
        return .processed(byteCount: bytesWaiting - bytesLeft)
    }

    /// Does what follows from what the stream has understood.
    func actOn(_ input: StreamInput, _ clients: inout Clients) {
        // The end of the stream is said when nothing can follow it.
        if case .end = input {} else { flushStream(&clients) }
        handle(input, &clients)
    }

    private func handle(_ input: StreamInput, _ clients: inout Clients) {
        switch input {
        case .needMore, .keepAlive, .output: break
        case .startTLS:
            clients.table.pauseReading(slot)
            wait(for: .encryption)
            clients.table.markDirty(slot)
        case .authenticate(let authentication):
            authenticate(authentication, &clients)
        case .denied(let failure, let error):
            denied(failure, error, &clients)
        case .register(let account, let password):
            register(account, password, &clients)
        case .bind(let device):
            bind(device, &clients)
        case .request(let request, let head, let stanza):
            clients.counters.stanzas.count(head.kind)
            carryOut(request, head, stanza, &clients)
            // 1,000 elements take up to 0.6 ms to read, to look through and to write.
            clients.budget.spend(stanza.partCountOfStanza >> 4)
        case .managed:
            // From here on each stanza for it is counted, so it shares none.
            clients.table.setVariant(
                of: slot, webSocket == nil ? .countedStanzas : .webSocketOfXMPP,
                gapText: clients.table.gapText(of: slot))
        case .acknowledged: acknowledged(&clients)
        case .rejected(let error):
            clients.counters.stanzaErrors.count(error.condition)
        case .end:
            guard clients.table.phase(of: slot) == .serving else {
                flushStream(&clients)
                return clients.end(slot, .logout, .lost, .inOrder)
            }
            // Until its answer there may be events in flight to the client.
            return ask(for: .logout, &clients) { _ in .logout }
        case .error(let error):
            endStream(after: error, &clients)
        }
        flushStream(&clients)
    }

    /// Begins TLS if the client waits for that, and everything is written. Returns whether it did.
    func beginTLSIfDue(_ clients: inout Clients) -> Bool {
        guard case .encryption = awaiting, clients.table.phase(of: slot) == .anonymous else {
            return false
        }
        clients.transport.startTLS(
            clients.table.id(of: slot), listener: clients.xmpp?.listenerOfSTARTTLS ?? 0)
        stream.encrypted()
        awaiting = nil
        clients.table.resumeReading(slot)
        return true
    }

    /// Begins the session of a device: what a login is natively.
    private func bind(_ device: [UInt8], _ clients: inout Clients) {
        wait(for: .bind)
        let login = Login(
            account: stream.account, device: device, client: .xmpp, sync: .none,
            hears: .approved, beginning: .hidden, address: clients.origin(of: slot).address,
            term: term, messages: .on)
        clients.inbound.append(.bind(clients.connectionID(slot), login))
    }

    /// Bytes that the client has sent and that were not carried out.
    var bytesBuffered: Int {
        (webSocket?.bytesBuffered ?? stream.bytesBuffered) + paced.byteCount
    }

    /// Whether a stanza has begun that is not complete.
    var isInStanza: Bool {
        guard let webSocket else { return stream.isInPart }
        return webSocket.bytesBuffered > 0 || webSocket.isInMessage
    }

    /// Keeps what the client has sent, since it is not carried out now.
    func keep(_ chunk: RawSpan, from offset: inout Int) {
        guard webSocket != nil else { return stream.keep(chunk, from: &offset) }
        webSocket?.keep(chunk, from: &offset)
    }

    // MARK: Slow stanzas

    /// Begins to watch how the stanza arrives that has begun.
    func beginArrival() { arrival = StanzaArrival(bytes: bytesBuffered) }

    /// Gives the stanza that has begun another period, or ends the stream.
    func periodEnded(_ clients: inout Clients) {
        let seconds = clients.configuration.connection.frameSeconds
        if arrival.hasNextPeriod(bytes: bytesBuffered) {
            return clients.setDeadline(of: slot, afterSeconds: seconds)
        }
        let error = StreamError(
            .policyViolation,
            "The stanza was not complete in time. Send at least \(StanzaArrival.bytesMin) bytes "
                + "of it in \(seconds) s, and all of it in \(seconds * StanzaArrival.periodsMax) s."
        )
        var random = SystemRandomNumberGenerator()
        stream.close(error, of: service, using: &random)
        flushStream(&clients)
        endStream(after: error, &clients)
    }
}
