import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceWire

// How connections end, and the deadlines of the loop: for a login, a frame, progress, silence, the
// end of a token, and a final frame.

extension ConnectionLoop where Link: ~Copyable {
    /// Sends the peer the reason, and closes the connection when that has been written.
    mutating func close(
        _ slot: Int, _ reason: CloseReason?, retryAfterSeconds: Int? = nil,
        by message: CloseMessage = .notification
    ) {
        guard connections[slot].phase != .free, connections[slot].phase != .closing else { return }
        if connections[slot].framing.hasStanzas { return closeStream(slot, reason) }
        var end = (code: reason?.code, word: reason?.word ?? "")
        switch message {
        case .notification where connections[slot].input.splitter.isUpgrading:
            fill(slot) { outbox, _ in outbox.appendAnswer(UpgradeError(reason)) }
        case .httpAnswer(let error):
            fill(slot) { outbox, _ in outbox.appendAnswer(error) }
        case .notification, .frameTooLong, .webSocketEnd:
            if let reason {
                let seconds = self.retryAfterSeconds(reason, retryAfterSeconds)
                send(to: slot) {
                    $0.appendCloseBody(reason, message.sentence, retryAfterSeconds: seconds)
                }
            }
            if case .webSocketEnd(let code) = message { end = (code.rawValue, code.word) }
        }
        self.end(
            slot, reason.map(Ending.init) ?? .logout, ConnectionEnd(reason),
            .whenWritten(code: end.code ?? WebSocketCloseCode.normal.rawValue, end.word))
    }

    /// Sends a new connection the close reason and closes it in the same turn. A peer that has
    /// already sent bytes may lose the reason.
    mutating func dismiss(_ slot: Int, _ reason: CloseReason) {
        precondition(
            connections[slot].phase == .anonymous && connections[slot].output.outbox.isEmpty)
        connections[slot].peer = .dismissed
        dismissedCount += 1
        if connections[slot].framing.hasStanzas {
            sayLast(slot, reason)
        } else {
            let seconds = retryAfterSeconds(reason)
            fill(slot) { outbox, framing in
                framing.append(to: &outbox) {
                    $0.appendCloseBody(reason, retryAfterSeconds: seconds)
                }
            }
        }
        let id = connections[slot].id
        unsafe frames.drain(&connections[slot].output.outbox, to: &pool) { [loop] in
            _ = unsafe loop.write(id, $0)
        }
        end(slot, Ending(reason), .lost, .atOnce)
    }

    /// After how many seconds the peer is to return, if it is.
    private mutating func retryAfterSeconds(
        _ reason: CloseReason, _ seconds: Int? = nil
    ) -> Int? {
        reason.isTransient ? seconds ?? retryDelay.seconds() : nil
    }

    /// Ends a connection. Every connection that ends goes through here, once or, if its final frame
    /// cannot be written, twice.
    ///
    /// Its end is counted as `ending`; `sessionEnd` is what the engine is told.
    mutating func end(
        _ slot: Int, _ ending: Ending, _ sessionEnd: ConnectionEnd, _ closing: Closing
    ) {
        count(ending, of: slot)
        loseSession(of: slot, sessionEnd)
        connections[slot].enter(.closing)
        stopServing(slot)
        switch closing {
        case .whenWritten(let code, let word):
            if connections[slot].framing.hasControlFrames {
                fill(slot) { outbox, framing in framing.appendEnd(code: code, word, to: &outbox) }
            }
            setDeadline(of: slot, afterSeconds: configuration.connection.farewellSeconds)
            markDirty(slot)
        case .atOnce:
            loop.close(connections[slot].id)
        }
    }

    /// Tells the engine host that a connection has ended, except during shutdown: sessions stay.
    private mutating func loseSession(of slot: Int, _ end: ConnectionEnd) {
        // Connections that a shutdown closes do not end their sessions.
        guard mayHaveSession(slot), phase == .starting || phase == .serving else { return }
        inbound.append(
            .lost(
                LostConnection(
                    connection: connectionID(slot), end: end, lastHeard: heard.time(UInt32(slot)),
                    unsentBytes: connections[slot].output.bytesUnsent)))
    }

    /// Whether the engine may know the connection: it has logged in, or its login is in progress.
    private func mayHaveSession(_ slot: Int) -> Bool {
        switch connections[slot].phase {
        case .free, .closing: false
        case .anonymous: connections[slot].input.awaiting != nil
        case .serving, .ending: true
        }
    }

    /// Nothing is carried out for the connection any more.
    private mutating func stopServing(_ slot: Int) {
        connections[slot].input = ConnectionInput()
        connections[slot].pulling = Pulling()
        connections[slot].output.blocked?.unwatch(in: &deadlines)
        deadlines.clear(&connections[slot].silence.deadline)
        deadlines.clear(&connections[slot].token.deadline)
    }

    /// Cleans up what there is of a connection, whose stream is gone.
    mutating func free(_ slot: Int) {
        // Unless it has ended before.
        loseSession(of: slot, .lost)
        stopServing(slot)
        deadlines.clear(&connections[slot].deadline)
        unblock(slot)
        forgetHeldBack(slot)
        switch connections[slot].peer {
        case .client, .appServer: break
        case .turnedAway: turnedAwayCount -= 1
        case .dismissed: dismissedCount -= 1
        }
        leaveAddress(of: slot)
        frames.empty(&connections[slot].output.outbox, to: &pool)
        connections[slot].reset(for: connections[slot].id)
        xmpp?.remove(slot)
        bareJIDs.remove(slot)
        inbound.append(.closed)
    }

    // MARK: Deadlines

    mutating func setDeadline(of slot: Int, afterSeconds seconds: Int) {
        deadlines.set(
            &connections[slot].deadline, .phase, of: slot,
            to: now().mono.advanced(bySeconds: seconds))
    }

    mutating func meetDeadlines(at now: Moment) {
        while let due = deadlines.popDue(now: heardUpTo.milliseconds) {
            let (kind, slot) = ConnectionDeadline.parts(of: due.payload)
            switch kind {
            case .phase:
                connections[slot].deadline.fired()
                phaseEnded(of: slot)
            case .progress:
                connections[slot].output.blocked?.fired()
                checkProgress(of: slot)
            case .throttle:
                throttleEnded(of: slot)
            case .token:
                if connections[slot].token.expire() { tokenEnded(of: slot) }
            case .silence:
                connections[slot].silence.deadline.fired()
                silenceSuspected(of: slot, at: now)
            }
        }
        exchange(at: now)
    }

    /// A connection has not done in time what its phase waits for.
    private mutating func phaseEnded(of slot: Int) {
        switch connections[slot].phase {
        case .free: break
        case .anonymous: close(slot, .loginTimeout)
        case .serving where connections[slot].framing.hasStanzas: periodEnded(in: slot)
        case .serving: close(slot, .protocolViolation)
        case .ending, .closing: end(slot, .lost, .lost, .atOnce)
        }
    }
}

/// When a connection that ends is closed.
enum Closing {
    /// When its outbox has been written. `code` and the word are for a protocol that has an end of
    /// its own.
    case whenWritten(code: Int?, StaticString = "")
    /// At once: it accepts no more bytes, or has been sent what there was.
    case atOnce
}

/// How a peer is told why its connection ends.
enum CloseMessage {
    /// By a `close` notification.
    case notification
    /// The same, after a native frame that was longer than the limit.
    case frameTooLong
    /// By an HTTP answer: the peer speaks HTTP, and is refused.
    case httpAnswer(UpgradeError)
    /// By a `close` notification and an end of the protocol with a code of its own.
    case webSocketEnd(WebSocketCloseCode)

    /// What the notification says; nil: what it says for its reason.
    fileprivate var sentence: StaticString? {
        switch self {
        case .frameTooLong: "A frame was too long."
        case .webSocketEnd(let code): code.sentence
        case .notification, .httpAnswer: nil
        }
    }
}

/// What an entry of a loop's wheel is for.
enum ConnectionDeadline: UInt64 {
    /// What the phase of the connection waits for has not come.
    case phase
    /// Some of what is pending must have been taken.
    case progress
    /// A connection that has asked too much may ask again.
    case throttle
    /// The token ends that the session was begun with.
    case token
    /// It may have been silent for too long.
    case silence

    func payload(_ slot: Int) -> UInt64 { rawValue << 32 | UInt64(slot) }

    static func parts(of payload: UInt64) -> (Self, slot: Int) {
        guard let kind = Self(rawValue: payload >> 32) else {
            preconditionFailure("a payload of no known deadline")
        }
        return (kind, Int(payload & 0xFFFF_FFFF))
    }
}

extension TimingWheel {
    /// Sets a timer of the connection in a slot.
    mutating func set(
        _ timer: inout WheelTimer, _ kind: ConnectionDeadline, of slot: Int, to deadline: Mono
    ) {
        set(&timer, to: deadline.milliseconds, payload: kind.payload(slot))
    }
}

extension CloseReason {
    /// Whether the peer is to come back.
    var isTransient: Bool { self == .shuttingDown || self == .overloaded }
}

extension ConnectionEnd {
    /// What the end of a connection that we close is to its session, unless that has ended before.
    init(_ reason: CloseReason?) {
        switch reason {
        case .idleTimeout: self = .silent
        case .tooSlow: self = .tooSlow
        case .protocolViolation: self = .violation
        default: self = .lost
        }
    }
}
