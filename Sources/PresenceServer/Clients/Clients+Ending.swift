import Connections
import Containers
import EventLoop
import PresenceCore
import PresenceWire

// How connections end.

/// When a connection that ends is closed.
enum Closing {
    /// When its outbox has been written. `code` and the word are for a protocol that has an end of
    /// its own.
    case whenWritten(code: Int?, StaticString = "")
    /// At once: it accepts no more bytes, or has been sent what there was.
    case atOnce

    /// When its outbox has been written, for no reason that its protocol has a code for.
    static let inOrder = Self.whenWritten(code: WebSocketCloseCode.normal.rawValue)
}

extension Clients {
    /// Ends a connection. Every connection that ends goes through here, once or, if its final frame
    /// cannot be written, twice.
    ///
    /// Its end is counted as `ending`; the engine gets `sessionEnd`.
    mutating func end(
        _ slot: Int, _ ending: Ending, _ sessionEnd: ConnectionEnd, _ closing: Closing
    ) {
        count(ending, of: slot)
        loseSession(of: slot, sessionEnd)
        protocols[slot].end()
        largeInputs.remove(slot)
        table.beginClosing(slot)
        switch closing {
        case .whenWritten(let code, let word):
            if isWebSocket(slot) {
                table.append(to: slot) { Framing.webSocket.appendEnd(code: code, word, to: &$0) }
            }
            setDeadline(of: slot, afterSeconds: configuration.connection.farewellSeconds)
            table.markDirty(slot)
        case .atOnce:
            table.closeStream(of: slot)
        }
    }

    /// Reports to the engine host that a connection has ended, except during shutdown: sessions
    /// stay.
    private mutating func loseSession(of slot: Int, _ end: ConnectionEnd) {
        guard mayHaveSession(slot), phase.endsSessions else { return }
        inbound.append(
            .lost(
                LostConnection(
                    connection: connectionID(slot), end: end, lastHeard: table.lastHeard(slot),
                    unsentBytes: table.bytesUnsent(of: slot))))
    }

    /// Whether the engine host may know the connection.
    private func mayHaveSession(_ slot: Int) -> Bool {
        switch table.phase(of: slot) {
        case .free, .closing: false
        case .anonymous: protocols.span[slot].mayHaveSession
        case .serving, .ending: true
        }
    }

    /// Frees the slot of a connection whose stream is closed.
    mutating func free(_ slot: Int) {
        // Unless it has ended before.
        loseSession(of: slot, .lost)
        admission.leave(table.address(of: slot), table.peer(of: slot))
        freeProtocol(of: slot)
        largeInputs.remove(slot)
        table.free(slot)
        inbound.append(.closed)
    }

    /// A connection has not done in time what its phase waits for.
    mutating func phaseEnded(of slot: Int) {
        switch table.phase(of: slot) {
        case .free: break
        case .anonymous: close(slot, .loginTimeout)
        case .serving: periodEnded(of: slot)
        case .ending, .closing: end(slot, .lost, .lost, .atOnce)
        }
    }

    /// A connection has been silent for long, perhaps too long.
    mutating func silenceSuspected(of slot: Int, at now: Moment) {
        let outcome = table.checkSilence(
            of: slot, patience(of: slot), isWaiting: protocols.span[slot].isWaiting, at: now.mono)
        switch outcome {
        case .waits: break
        case .close: close(slot, .idleTimeout)
        case .ask: askForSign(of: slot)
        }
    }

    /// A client that had something to read has had time to read some of it.
    mutating func checkProgress(of slot: Int) {
        let now = now().mono
        guard table.hasProgressed(slot, at: now) else {
            counters.closedTooSlow += 1
            // The outbox has no space for a final frame. It is tried all the same, for a short
            // time.
            return close(slot, .tooSlow)
        }
        table.noteProgress(of: slot, at: now)
    }
}

extension CloseReason {
    /// Whether the peer should reconnect.
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
