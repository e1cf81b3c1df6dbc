import Logging
import PresenceCore
import PresenceWire

// What connection loops have handed over.

extension EngineHost {
    /// Takes in what a connection loop has, in order.
    mutating func take(_ inbound: borrowing Inbound, at now: Moment) {
        for item in inbound.items {
            take(item, inbound.texts, at: now)
            sort(at: now)
        }
    }

    /// Takes in what loops in process have handed over.
    mutating func takeInProcess(at now: Moment) {
        for box in boxesInProcess {
            for inbound in box.takeInbound() { take(inbound, at: now) }
        }
    }

    private mutating func take(
        _ item: InboundItem, _ texts: RequestTexts, at now: Moment
    ) {
        switch item {
        case .request(let request, let origin):
            memory.noteActivity()
            do throws(Refusal) {
                try perform(request, from: origin, texts, at: now)
            } catch {
                output.append(.refuse(request.connection, error), for: request.connection)
            }
        case .invalid(let connection, let kind, let refusal):
            memory.noteActivity()
            let told = engine.refusal(of: kind, from: connection) ?? refusal
            output.append(.refuse(connection, told), for: connection)
        case .internalConnection(let connection):
            guard phase == .serving else {
                let close = OutboundItem.close(connection, .shuttingDown, retryAfterSeconds: nil)
                return output.append(close, for: connection)
            }
            engine.handle(
                .loginAppServer, from: connection, at: now, into: &output.shared.effects)
        case .closed:
            memory.noteActivity()
        case .missed(let connection, let topic, let seq):
            engine.missed(topic, seq: seq, by: connection, at: now.wall)
        case .drained(let connection):
            drained(connection, at: now)
        case .lost(let lost):
            stopReadingFeed(lost.connection, at: now.mono)
            tokens.forget(lost.connection)
            questions.forget(lost.connection)
            guard phase == .serving || phase == .stopping else { return }
            engine.connectionLost(
                lost.connection, lost.end, unsentBytes: lost.unsentBytes,
                lastHeard: lost.lastHeard, at: now, into: &output.shared.effects)
        case .measured(let report, let question):
            measured(report, for: question, at: now)
        case .listening(let error):
            listening(error, at: now)
        case .finished:
            loopFinished()
        }
    }

    private mutating func drained(_ connection: ConnectionID, at now: Moment) {
        if let place = feed?.place(of: connection) {
            feed?.readers[place].isReady = true
            sendFeed(toReader: place, at: now)
        } else {
            engine.drained(connection, at: now, into: &output.shared.effects)
        }
    }

    private mutating func perform(
        _ request: ClientRequest, from origin: ConnectionOrigin?, _ texts: RequestTexts,
        at now: Moment
    ) throws(Refusal) {
        let source = RequestSource(texts: texts, mark: request.texts)
        try authorise(request, source)
        guard phase == .serving else {
            throw Refusal(.shuttingDown, retryAfterSeconds: retryDelay.seconds())
        }
        if let subject = question(in: request.method, source) {
            return questions.append(Question(connection: request.connection, subject: subject))
        }
        if case .feed(let cursor) = request.method {
            return try readFeed(from: cursor, by: request.connection, at: now)
        }
        if let token = try token(in: request, from: origin, source, at: now) {
            return try verify(token, at: now)
        }
        let command = try command(for: request, from: origin, source)
        try checkRoom(for: command.kind, at: now)
        if command.kind == .login {
            guard admitLogin(of: request.connection, at: now) else { return }
        }
        logLogin(by: request.method, source)
        engine.handle(
            command, from: request.connection, at: now, into: &output.shared.effects)
    }

    /// Rejects a request without permission before anything else is done about it: before names
    /// are interned, limits compared and logins logged.
    private mutating func authorise(
        _ request: ClientRequest, _ source: RequestSource
    ) throws(Refusal) {
        let connection = request.connection
        if let refusal = engine.refusal(of: request.method.kind, from: connection) {
            throw refusal
        }
        guard case .account(let name) = request.method.subject else { return }
        let subject: NamedSubject =
            name.map { find($0, source).map { .known($0) } ?? .unknown } ?? .none
        if let refusal = engine.refusal(of: subject, from: connection) { throw refusal }
    }
}

/// The names and texts of one request.
struct RequestSource {
    let texts: RequestTexts
    let mark: RequestTexts.Mark

    func bytes(_ range: ByteRange) -> [UInt8] { texts.bytes(range, at: mark) }

    func names(_ list: NameList) -> ArraySlice<ByteRange> { texts.names(list, at: mark) }

    func withBytes<Value>(_ range: ByteRange, _ read: (Span<UInt8>) -> Value) -> Value {
        texts.withBytes(range, at: mark, read)
    }
}
