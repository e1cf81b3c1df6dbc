import Connections
import Containers
import PresenceWire
import PresenceXMPP

// XMPP in the messages of a WebSocket (RFC 7395): a third framing, of the same stream.

extension Clients {
    /// A WebSocket is that of an XMPP client, which has as long to log in as others.
    mutating func beginXMPP(inWebSocket slot: Int) {
        let isEncrypted = transport.isEncrypted(table.id(of: slot))
        beginXMPP(slot, isEncrypted: isEncrypted, webSocket: protocols[slot].splitter)
        table.setVariant(of: slot, .webSocketOfXMPP)
        setDeadline(of: slot, afterSeconds: configuration.connection.xmppLoginSeconds)
    }
}

extension XMPPClient {
    /// Processes the next message of a WebSocket.
    func readMessage(
        _ chunk: RawSpan, from offset: inout Int, _ clients: inout Clients
    ) -> InputStep {
        let outcome = webSocket?.next(
            in: chunk, from: &offset, bodyBytesMax: stream.messageBytesMax(of: service),
            body: &clients.unmasked)
        var byteCount = 0
        switch outcome {
        // RFC 7395: there are no keep-alives, and the stream rejects an empty message.
        case .message, .keepAlive:
            // The message is complete, and the next one may have to wait unread for a while.
            clients.clearMessageDeadline(of: slot)
            byteCount = clients.unmasked.count
            var random = SystemRandomNumberGenerator()
            let input = unsafe stream.read(
                message: clients.unmasked.span.bytes, of: service, using: &random)
            actOn(input, &clients)
        case .ping: clients.sendPong(to: slot, clients.unmasked)
        case .pong: answered(pong: clients.unmasked, &clients)
        case .end: clients.inputEnded(of: slot)
        case .violation(.message(let code)):
            endStream(for: StreamError(code), code, &clients)
            return .ended
        case .needMore, .upgrade, .violation, nil: return .needMore
        }
        return .processed(byteCount: byteCount, isInMessage: webSocket?.isInMessage ?? false)
    }

    /// Ends the stream because of a message that it cannot process.
    private func endStream(
        for error: StreamError, _ code: WebSocketCloseCode, _ clients: inout Clients
    ) {
        var random = SystemRandomNumberGenerator()
        stream.close(error, of: service, using: &random)
        flushStream(&clients)
        endStream(after: error, by: .whenWritten(code: code.rawValue, code.word), &clients)
    }
}

extension StreamError {
    /// The error of a stream whose WebSocket is closed for what was received.
    fileprivate init(_ code: WebSocketCloseCode) {
        let text = String(describing: code.sentence)
        switch code {
        case .normal, .protocolError, .unsupportedData: self.init(.badFormat, text)
        case .invalidText: self.init(.unsupportedEncoding, text)
        case .policyViolation, .tooBig: self.init(.policyViolation, text)
        }
    }
}

extension [UInt8] {
    /// Appends elements as messages of a WebSocket, each in one of its own.
    mutating func appendMessages(of elements: Span<UInt8>) {
        var offset = 0
        while let element = StreamMessages.nextElement(in: elements, from: &offset) {
            Framing.webSocket.append(to: &self) { $0.appendMessage(elements.extracting(element)) }
        }
    }
}
