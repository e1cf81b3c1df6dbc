import Connections
import Logging
import PresenceCore
import PresenceWire

// Input of native clients, by frames or by a WebSocket: requests, and errors for those that cannot
// be parsed.

extension Clients {
    /// Processes the next message of a client.
    mutating func readMessage(
        _ chunk: RawSpan, from offset: inout Int, in slot: Int
    ) -> InputStep {
        let limits = configuration.engine.limits
        let bodyBytesMax: Int
        switch table.phase(of: slot) {
        case .anonymous: bodyBytesMax = limits.frameBytesBeforeLoginMax
        case .serving: bodyBytesMax = limits.frameBytesMax
        case .free, .ending, .closing: return .ended
        }
        let outcome = protocols[slot].splitter.next(
            in: chunk, from: &offset, bodyBytesMax: bodyBytesMax, body: &unmasked)
        var byteCount = 0
        switch outcome {
        case .needMore: return .needMore
        case .keepAlive: sendKeepAlive(to: slot)
        case .message(let body):
            // The frame is complete, and the next one may have to wait unread for a while.
            clearMessageDeadline(of: slot)
            byteCount = bytes(of: body)
            read(body, in: chunk, of: slot)
            if body.isKept { protocols[slot].splitter.release(body) }
        case .upgrade(let request):
            upgrade(slot, asAskedBy: request)
            return .processed(byteCount: 0)
        case .ping: sendPong(to: slot, unmasked)
        case .pong: break
        case .end: inputEnded(of: slot)
        case .violation(let violation):
            close(slot, for: violation)
            return .ended
        }
        return .processed(
            byteCount: byteCount, isInMessage: protocols[slot].splitter.isInMessage)
    }

    private func bytes(of body: InputBody) -> Int {
        switch body {
        case .frame(let frame): frame.count
        case .unmasked: unmasked.count
        }
    }

    private mutating func read(_ body: InputBody, in chunk: RawSpan, of slot: Int) {
        counters.requests += 1
        let result = protocols[slot].splitter.withBody(body, in: chunk, or: unmasked) {
            decoder.decode($0)
        }
        switch result {
        case .success(let request):
            protocols[slot].wait(for: request.answered)
            counters.requestsByMethod.count(request.method.name)
            ask(request.method, of: slot)
        case .failure(let error):
            guard let method = error.method, case .rejected(let rejection) = error.cause else {
                return reject(error, of: slot)
            }
            // Missing permission is reported rather than bad parameters.
            protocols[slot].wait(for: error.id)
            inbound.append(.invalid(connectionID(slot), method, rejection))
        }
    }

    /// Answers a frame that is no request.
    private mutating func reject(_ error: RequestError, of slot: Int) {
        count(error, of: slot)
        send(to: slot) { $0.appendErrorBody(error) }
    }

    /// Hands a request to the engine host.
    private mutating func ask(_ method: Method, of slot: Int) {
        let connection = connectionID(slot)
        budget.spend(decoder.nameCount >> 4)
        if method.name.rules.work == .large { budget.spend(Self.workOfLargeRequest) }
        switch method {
        case .refresh where !table.hasToken(slot):
            let rejection = Rejection(CredentialError.nothingToRefresh)
            return inbound.append(.invalid(connection, .refresh, rejection))
        case .refresh, .login:
            if case .refresh = method { table.beginRefresh(of: slot) }
            return inbound.append(method, of: &decoder, from: connection, at: origin(of: slot))
        case .command, .question, .password, .feed, .undelivered:
            inbound.append(method, of: &decoder, from: connection, at: nil)
        }
    }

    /// What a request with much work counts besides its weight.
    private static var workOfLargeRequest: Int { 31 }

    /// Gives the message that has begun another period, or closes the connection.
    mutating func nativePeriodEnded(of slot: Int) {
        guard largeInputs.hasNextPeriod(slot) else { return close(slot, .protocolViolation) }
        setDeadline(of: slot, afterSeconds: configuration.connection.frameSeconds)
    }

    /// How long a native client may be silent.
    func nativePatience(of slot: Int) -> Patience {
        let silence = configuration.engine.silenceMillisecondsMax
        guard isWebSocket(slot) else {
            return Patience(milliseconds: silence, millisecondsMax: silence, canAsk: false)
        }
        let heartbeat = UInt64(configuration.engine.heartbeatSeconds) * 1_000
        return Patience(milliseconds: heartbeat, millisecondsMax: silence, canAsk: true)
    }

    // MARK: WebSockets

    /// Makes a connection a WebSocket, unless its page may not connect.
    private mutating func upgrade(_ slot: Int, asAskedBy request: UpgradeRequest) {
        guard request.target == .porchlight || xmpp != nil else {
            return close(slot, .protocolViolation, by: .httpAnswer(.path))
        }
        guard originRule.accepts(request.origin) else {
            counters.originsRejected += 1
            let origin = String(decoding: (request.origin ?? []).prefix(128), as: UTF8.self)
            logger.log(
                .warning, "page rejected: its origin is not accepted",
                times: counters.originsRejected, metadata: ["origin": "\(origin)"])
            return close(slot, .protocolViolation, by: .httpAnswer(.origin))
        }
        counters.webSockets += 1
        table.append(to: slot) { $0.appendAnswer(request) }
        protocols[slot].splitter.becomeWebSocket()
        switch request.target {
        case .porchlight: table.setVariant(of: slot, .webSocket)
        case .xmpp: beginXMPP(inWebSocket: slot)
        }
    }

    private var originRule: OriginRule {
        if let origins = configuration.webSocketOrigins { return .listed(origins) }
        return configuration.access == .open ? .loopback : .any
    }
}
