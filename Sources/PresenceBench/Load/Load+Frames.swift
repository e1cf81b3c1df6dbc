import EventLoop
import PresenceWire

// Frames of the service.

extension Load {
    private static let bodyBytesMax = 1 << 20

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        guard let client = client(of: id) else { return }
        now = loop.monotonicNanoseconds
        let chunk = unsafe RawSpan(_unsafeBytes: bytes)
        if let session = clients[client].session {
            receive(chunk, by: client, id, over: session)
        } else {
            read(chunk, by: client, id)
        }
    }

    /// Reads frames.
    func read(_ chunk: RawSpan, by client: Int, _ id: StreamID) {
        // Moved out of the array while it is used: handling a frame may change the array.
        var splitter = clients[client].splitter
        clients[client].splitter = FrameSplitter()
        var offset = 0
        reading: while true {
            switch splitter.next(in: chunk, from: &offset, bodyBytesMax: Self.bodyBytesMax) {
            case .needMore: break reading
            case .keepAlive: break
            case .frame(let body):
                splitter.withBody(body, in: chunk) { take($0, by: client) }
                // Handling the frame may have closed the connection.
                guard clients[client].stream == id else { return }
            case .violation(let count):
                return fail("A frame claims to have \(count) bytes.")
            }
        }
        clients[client].splitter = splitter
    }

    @inline(__always)
    private func take(_ body: RawSpan, by client: Int) {
        switch scanner.frame(body) {
        case .events: takeEvents(body, by: client)
        case .synced(let states):
            guard clients[client].phase == .listing else {
                return fail("A login list was sent twice.")
            }
            arrive(client, states: states)
        case .answer(let id, let answer): takeAnswer(id, answer, by: client, body)
        case .close(let code, let retryAfterSeconds):
            counters.closes[code, default: 0] += 1
            lost(
                client, "was closed by the service (\(code))",
                retryAfterSeconds: code >= 4_500 ? max(retryAfterSeconds, 1) : nil)
        case .messages:
            guard let messages = scanner.messages(body) else {
                return fail("Messages without an id: \(text(of: body)).")
            }
            observer?.delivered(messages, to: client)
        case .expired, .unknown:
            fail("An unexpected frame: \(text(of: body)).")
        }
    }

    @inline(__always)
    private func takeEvents(_ body: RawSpan, by client: Int) {
        var offset = 0
        if scanner.isList(body) {
            while let event = scanner.nextEvent(body, &offset, names) {
                counters.listedStates += 1
                observer?.listed(event, by: client)
            }
            return
        }
        while let event = scanner.nextEvent(body, &offset, names) {
            counters.events += 1
            observer?.received(event, by: client, in: body)
        }
        counters.eventBytes += body.byteCount + FrameSplitter.lengthBytes
    }

    private func takeAnswer(
        _ id: Int, _ answer: ScannedResponse, by client: Int, _ body: RawSpan
    ) {
        guard let kind = RequestKind(rawValue: id) else {
            return fail("A response without a request: \(text(of: body)).")
        }
        switch (kind, answer) {
        case (.login, .result):
            leave(client, to: .listing)
        case (.login, .error(503, let retryAfterSeconds)) where lossPolicy == .reconnect:
            counters.rejections += 1
            lost(client, "was rejected", retryAfterSeconds: max(retryAfterSeconds, 1))
        case (.login, .error(401, _)):
            fail(
                "The service requires credentials (401): the load test needs --auth open, and "
                    + "--server-key if the service has one.")
        case (_, .result):
            counters.requestsOutstanding -= 1
            observer?.answered(kind, of: client, in: body)
        case (_, .error):
            fail("A \(kind) was rejected: \(text(of: body)).")
        }
    }

    private func arrive(_ client: Int, states: Int) {
        clients[client].failures = 0
        leave(client, to: .online)
        observer?.arrived(client, states: states)
    }

    func text(of body: RawSpan) -> String {
        unsafe body.extracting(0..<min(body.byteCount, 400)).withUnsafeBytes {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }
}
