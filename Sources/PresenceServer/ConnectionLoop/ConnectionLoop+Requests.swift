import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceWire
import PresenceXMPP

// Input: frames, requests, and errors for those that cannot be parsed.

extension ConnectionLoop where Link: ~Copyable {
    /// Processes what a connection has sent.
    mutating func receive(_ chunk: RawSpan, in slot: Int) {
        var offset = 0
        let now = now()
        hear(slot, byteCount: chunk.byteCount, at: now)
        // What has come before may wait for its turn.
        if !connections[slot].input.isResumable || !canWait(slot, chunk, offset) {
            budget.continueShare(
                of: slot, bytesWaiting: bytesBuffered(slot) + chunk.byteCount)
            read(chunk, from: &offset, in: slot, at: now)
        }
        guard connections[slot].phase == .anonymous || connections[slot].phase == .serving
        else { return }
        if offset < chunk.byteCount {
            // It has to wait. What has been read is kept; what it sends next stays in the kernel.
            keep(chunk, from: &offset, of: slot)
            // Unless that is little, and for the next turn only.
            let isShort =
                connections[slot].input.isResumable
                && budget.isLight(bytesWaiting: bytesBuffered(slot))
            guard !isShort else { return }
            connections[slot].input.pause()
            loop.stopReading(connections[slot].id)
        }
    }

    /// Continues with connections whose request has been answered, or whose input had to wait for
    /// this turn. It begins with them, so those that have waited go before what arrives next.
    mutating func resume(at now: Moment) {
        budget.beginTurn(configuration.connection.turn)
        var lightLeft = resumable.light.count
        while lightLeft > 0, budget.hasTurnForLight, let slot = resumable.takeLight() {
            lightLeft -= 1
            resume(slot, isLight: true, at: now)
        }
        while budget.hasTurnForHeavy, let slot = resumable.takeHeavy() {
            resume(slot, isLight: false, at: now)
        }
        resumable.compact()
    }

    private mutating func resume(_ slot: Int, isLight: Bool, at now: Moment) {
        guard connections[slot].input.unmarkResumable() else { return }
        budget.beginShare(of: slot, isLight: isLight)
        // Also if it needs more: reading from it again is work, too.
        budget.spend(1)
        var offset = 0
        read(RawSpan(), from: &offset, in: slot, at: now)
        guard !connections[slot].input.isResumable, isListening(slot) else { return }
        if connections[slot].input.hasEnded {
            if connections[slot].phase == .anonymous || connections[slot].phase == .serving {
                inputEnded(of: slot)
            }
        } else if connections[slot].input.goOn() {
            loop.startReading(connections[slot].id)
        }
    }

    /// Whether a connection may have its next message carried out in this turn.
    func hasTurn(_ slot: Int, _ chunk: RawSpan, _ offset: Int) -> Bool {
        if budget.hasRoom { return true }
        let bytesWaiting = bytesBuffered(slot) + chunk.byteCount - offset
        return budget.hasRoomForLight && budget.isLight(bytesWaiting: bytesWaiting)
            || !canWait(slot, chunk, offset)
    }

    /// Whether what a connection has sent can be kept as it is.
    private func canWait(_ slot: Int, _ chunk: RawSpan, _ offset: Int) -> Bool {
        connections[slot].framing.hasStanzas
            || connections[slot].input.splitter.canPause(before: chunk, at: offset)
    }

    /// Bytes that a connection has sent and that were not carried out.
    func bytesBuffered(_ slot: Int) -> Int {
        if connections[slot].framing.hasStanzas, let client = xmpp?[slot] {
            return client.stream.bytesBuffered
        }
        return connections[slot].input.splitter.bytesBuffered
    }

    private mutating func read(
        _ chunk: RawSpan, from offset: inout Int, in slot: Int, at now: Moment
    ) {
        if connections[slot].framing.hasStanzas {
            readStanzas(chunk, from: &offset, in: slot, at: now)
        } else {
            readFrames(chunk, from: &offset, in: slot, at: now)
        }
    }

    private mutating func keep(_ chunk: RawSpan, from offset: inout Int, of slot: Int) {
        if connections[slot].framing.hasStanzas, let client = xmpp?[slot] {
            client.stream.keep(chunk, from: &offset)
        } else {
            connections[slot].input.splitter.keep(chunk, from: &offset)
        }
    }

    /// Processes frames until there is none, or one has to wait.
    private mutating func readFrames(
        _ chunk: RawSpan, from offset: inout Int, in slot: Int, at now: Moment
    ) {
        var frameCount = 0
        while isListening(slot) {
            // Other connections get their share of the turn, too.
            guard hasTurn(slot, chunk, offset) else {
                return waitForTurn(slot, bytesAhead: chunk.byteCount - offset)
            }
            let bodyBytesMax: Int
            let outboxBytes = connections[slot].output.outbox.count
            var byteCount = 0
            switch connections[slot].phase {
            case .anonymous:
                bodyBytesMax = configuration.engine.limits.frameBytesBeforeLoginMax
            case .serving: bodyBytesMax = configuration.engine.limits.frameBytesMax
            case .free, .ending, .closing: return
            }
            let outcome = connections[slot].input.splitter.next(
                in: chunk, from: &offset, bodyBytesMax: bodyBytesMax, body: &unmasked)
            switch outcome {
            case .needMore:
                return watchFrame(of: slot, isNew: frameCount > 0)
            case .keepAlive:
                sendKeepAlive(to: slot)
            case .message(let body):
                // The frame is complete, and the next one may have to wait unread for a while.
                clearFrameDeadline(of: slot)
                byteCount = bytes(of: body)
                read(body, in: chunk, of: slot, at: now)
            case .upgrade(let request): upgrade(slot, asAskedBy: request)
            case .ping: sendPong(to: slot, unmasked)
            case .pong: break
            case .end: inputEnded(of: slot)
            case .violation(let violation): return close(slot, for: violation)
            }
            // The time limit of a message in fragments is not extended by what comes between them.
            if !connections[slot].input.splitter.isInMessage { frameCount += 1 }
            charge(slot, byteCount, since: outboxBytes, at: now)
        }
        // Reading is paused on our side, so no frame timeout.
        clearFrameDeadline(of: slot)
    }

    private func bytes(of body: InputBody) -> Int {
        switch body {
        case .frame(let frame): frame.count
        case .unmasked: unmasked.count
        }
    }

    /// Charges a connection for a message: its rate limit for what it has sent, the turn also for
    /// the answer, if its outbox had `outboxBytes` before.
    mutating func charge(
        _ slot: Int, _ byteCount: Int, since outboxBytes: Int, at now: Moment
    ) {
        let weight = TurnBudget.weight(byteCount: byteCount)
        let answerBytes = connections[slot].output.outbox.count - outboxBytes
        budget.spend(weight + max(0, answerBytes >> 10))
        countRequest(of: slot, weight: weight, at: now)
    }

    /// Whether the next frame may be read: not while a request waits for its response, nor while
    /// the client does not read its responses or is throttled.
    func isListening(_ slot: Int) -> Bool {
        connections[slot].input.awaiting == nil
            && connections[slot].output.outbox.count < configuration.connection.outboxBytesMax
            && !connections[slot].input.isThrottled
    }

    /// Resumes reading from a connection that has read its responses.
    mutating func resumeIfPaused(_ slot: Int) {
        guard connections[slot].phase == .anonymous || connections[slot].phase == .serving,
            connections[slot].input.awaiting == nil
        else { return }
        let input = connections[slot].input
        if input.isPaused || input.hasEnded || bytesBuffered(slot) > 0 { postpone(slot) }
    }

    /// The frame that was begun is complete, or not waited for. (Before the login, the deadline is
    /// that of the login.)
    mutating func clearFrameDeadline(of slot: Int) {
        guard connections[slot].phase == .serving else { return }
        deadlines.clear(&connections[slot].deadline)
    }

    /// Sets the timeout for the rest of an incomplete frame, or clears it.
    mutating func watchFrame(of slot: Int, isNew: Bool) {
        guard connections[slot].phase == .serving else { return }
        if !isInMessage(slot) {
            deadlines.clear(&connections[slot].deadline)
        } else if isNew || !connections[slot].deadline.isSet {
            setDeadline(of: slot, afterSeconds: configuration.connection.frameSeconds)
        }
    }

    /// Whether a message has begun that is not complete.
    private func isInMessage(_ slot: Int) -> Bool {
        if connections[slot].framing.hasStanzas, let client = xmpp?[slot] {
            return client.stream.isInPart
        }
        let splitter = connections[slot].input.splitter
        return splitter.bytesBuffered > 0 || splitter.isInMessage
    }

    private mutating func read(_ body: InputBody, in chunk: RawSpan, of slot: Int, at now: Moment) {
        counters.requests += 1
        let result = connections[slot].input.splitter.withBody(body, in: chunk, or: unmasked) {
            decoder.decode($0)
        }
        switch result {
        case .success(let request):
            connections[slot].input.awaiting = request.id
            counters.requestsByMethod.count(request.method.name)
            ask(request.method, of: slot)
            exchange(at: now)
        case .failure(let fault):
            guard let method = fault.method, case .refused(let refusal) = fault.cause else {
                return reject(fault, of: slot)
            }
            // Missing permission is reported rather than bad parameters.
            connections[slot].input.awaiting = fault.id
            inbound.append(.invalid(connectionID(slot), method, refusal))
            exchange(at: now)
        }
    }

    /// Answers a frame that is no request.
    private mutating func reject(_ fault: RequestError, of slot: Int) {
        count(fault, of: slot)
        send(to: slot) { $0.appendErrorBody(fault) }
    }

    /// Hands a request to the engine host.
    private mutating func ask(_ method: Method, of slot: Int) {
        let connection = connectionID(slot)
        budget.spend(decoder.nameCount >> 4)
        if method.name.rules.work == .large { budget.spend(Self.workOfLargeRequest) }
        switch method {
        case .refresh where !connections[slot].token.deadline.isSet:
            let refusal = Refusal(CredentialError.nothingToRefresh)
            return inbound.append(.invalid(connection, .refresh, refusal))
        case .refresh, .login:
            if case .refresh = method { connections[slot].token.beginRefresh() }
            return inbound.append(method, of: &decoder, from: connection, at: origin(of: slot))
        case .command, .question, .password, .feed:
            inbound.append(method, of: &decoder, from: connection, at: nil)
        }
    }

    /// What a request with much work counts besides its weight.
    private static var workOfLargeRequest: Int { 31 }

    func origin(of slot: Int) -> ConnectionOrigin {
        let id = connections[slot].id
        return ConnectionOrigin(
            address: Array((loop.peerAddress(of: id) ?? "").utf8),
            network: network(of: slot))
    }

    /// Leaves what a connection has sent to the next turn, because this one has no room for it.
    mutating func waitForTurn(_ slot: Int, bytesAhead: Int) {
        // It is we who read later, so no frame timeout.
        clearFrameDeadline(of: slot)
        postpone(slot, bytesAhead: bytesAhead)
    }

    /// Has the next turn go on with what a connection has sent, `bytesAhead` of it in the chunk.
    private mutating func postpone(_ slot: Int, bytesAhead: Int = 0) {
        guard connections[slot].input.markResumable() else { return }
        let bytesWaiting = bytesBuffered(slot) + bytesAhead
        resumable.append(slot, isLight: budget.isLight(bytesWaiting: bytesWaiting))
    }

    /// The request that a connection waited for is done; the next may follow.
    mutating func settle(_ slot: Int) {
        noteAnswered(slot)
        if connections[slot].token.endRefresh() { tokenEnded(of: slot) }
        guard connections[slot].phase == .ending else { return resumeIfPaused(slot) }
        endIfServed(slot)
    }

    /// The request of a connection has been answered; the answer is to be written.
    mutating func noteAnswered(_ slot: Int) {
        connections[slot].input.awaiting = nil
        markDirty(slot)
    }

    /// Ends a connection whose peer sends no more, once it has been sent the response to its
    /// request and its login list.
    mutating func endIfServed(_ slot: Int) {
        guard connections[slot].phase == .ending, connections[slot].input.awaiting == nil,
            !connections[slot].pulling.isListing
        else { return }
        // The close frame of a WebSocket is answered with its own code.
        let code = connections[slot].input.splitter.endCode
        end(slot, .lost, .lost, .whenWritten(code: code))
    }
}
