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
        read(chunk, from: &offset, in: slot, at: now)
        guard connections[slot].phase == .anonymous || connections[slot].phase == .serving
        else { return }
        if offset < chunk.byteCount {
            // It has to wait. What has been read is kept; what it sends next stays in the kernel.
            keep(chunk, from: &offset, of: slot)
            connections[slot].input.pause()
            loop.stopReading(connections[slot].id)
        }
    }

    /// Continues with connections whose request has been answered.
    mutating func resume(at now: Moment) {
        var slots: [UInt32] = []
        swap(&slots, &resumable)
        for number in slots {
            let slot = Int(number)
            guard connections[slot].input.unmarkResumable() else { continue }
            var offset = 0
            read(RawSpan(), from: &offset, in: slot, at: now)
            let isReadUp = !connections[slot].input.isResumable
            if isReadUp, isListening(slot), connections[slot].input.goOn() {
                loop.startReading(connections[slot].id)
            }
        }
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
        turnWorkLeft = configuration.connection.framesPerTurn
        while isListening(slot) {
            // Other connections get their share of the turn, too.
            guard turnWorkLeft > 0 else { return postpone(slot) }
            turnWorkLeft -= 1
            let bodyBytesMax: Int
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
                read(body, in: chunk, of: slot, at: now)
            case .upgrade(let request): upgrade(slot, asAskedBy: request)
            case .ping: sendPong(to: slot, unmasked)
            case .pong: break
            case .end: inputEnded(of: slot)
            case .violation(let violation): return close(slot, for: violation)
            }
            // The time limit of a message in fragments is not extended by what comes between them.
            if !connections[slot].input.splitter.isInMessage { frameCount += 1 }
            countRequest(of: slot, at: now)
        }
        // Reading is paused on our side, so no frame timeout.
        clearFrameDeadline(of: slot)
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
        if connections[slot].input.isWaiting { postpone(slot) }
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
        if method.name.rules.work == .large { turnWorkLeft -= Self.framesOfLargeRequest - 1 }
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

    /// The number of frames that a request with much work counts as.
    private static var framesOfLargeRequest: Int { 32 }

    func origin(of slot: Int) -> ConnectionOrigin {
        let id = connections[slot].id
        return ConnectionOrigin(
            address: Array((loop.peerAddress(of: id) ?? "").utf8),
            network: network(of: slot))
    }

    /// Leaves the frames that a connection has sent to the next turn.
    mutating func postpone(_ slot: Int) {
        guard connections[slot].input.markResumable() else { return }
        resumable.append(UInt32(slot))
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
