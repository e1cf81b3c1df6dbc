import EventLoop
import Logging
import PresenceCore
import PresenceWire

// Events of sockets.

extension ConnectionLoop where Link: ~Copyable {
    /// Admits a new connection.
    mutating func accept(_ id: StreamID, on listener: ListenerKind = .native) {
        let slot = enter(id, .anonymous, on: listener)
        counters.accepted += 1
        guard phase == .starting || phase == .serving else {
            return dismiss(slot, .shuttingDown)
        }
        guard admit(slot) else { return }
        listenForLogin(of: slot)
    }

    /// Reads from a new connection, and sets the time within which it must log in.
    mutating func listenForLogin(of slot: Int) {
        let limits = configuration.connection
        setDeadline(
            of: slot,
            afterSeconds: connections[slot].framing.hasStanzas
                ? limits.xmppLoginSeconds : limits.loginSeconds)
        loop.startReading(connections[slot].id)
    }

    mutating func enter(
        _ id: StreamID, _ phase: Connection.Phase, on listener: ListenerKind
    ) -> Int {
        let slot = Int(id.slot)
        while connections.count <= slot {
            connections.append(Connection(id: StreamID(slot: 0, generation: 0)))
        }
        precondition(connections[slot].phase == .free, "a slot that is still in use")
        connections[slot].reset(for: id)
        heard.reserve(id.slot)
        connections[slot].enter(phase)
        if listener.isXMPP { enterXMPP(slot, on: listener) }
        return slot
    }

    /// Takes in what a connection has sent.
    mutating func receive(_ bytes: RawSpan, from id: StreamID) {
        assertAtRest()
        guard let slot = slot(of: id) else { return }
        receive(bytes, in: slot)
    }

    mutating func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        guard let slot = slot(of: id) else { return }
        guard reason == .endOfFile else { return end(slot, .lost, .lost, .atOnce) }
        switch connections[slot].phase {
        case .anonymous, .serving:
            connections[slot].input.hasEnded = true
            endIfReadUp(slot)
        // The peer has closed its WebSocket before.
        case .ending: break
        // What it is sent last may not be written yet: with several loops it may have come in this
        // turn. The connection is closed when that has been written.
        case .closing: break
        case .free: preconditionFailure("the end of a stream that is not in use")
        }
    }

    /// Ends the input of a connection whose peer sends no more, unless some of it waits: for its
    /// turn, for a response to be read, or for the end of a rate limit.
    mutating func endIfReadUp(_ slot: Int) {
        guard connections[slot].input.hasEnded, isListening(slot),
            !connections[slot].input.isResumable
        else { return }
        inputEnded(of: slot)
    }

    /// The peer has stopped sending: what it asked for last is still answered.
    mutating func inputEnded(of slot: Int) {
        count(.lost, of: slot)
        connections[slot].enter(.ending)
        setDeadline(of: slot, afterSeconds: configuration.connection.farewellSeconds)
        endIfServed(slot)
    }

    mutating func streamDrained(_ id: StreamID) {
        guard let slot = slot(of: id) else { return }
        noteProgress(of: slot)
        unblock(slot)
        markDirty(slot)
    }

    mutating func streamClosed(_ id: StreamID) {
        guard let slot = slot(of: id) else { return }
        free(slot)
        // Now: the slot may be reused by another connection, which logs in, before the turn ends.
        exchange(at: now())
    }

    mutating func acceptFailed(_ error: UVError) {
        counters.acceptFailures += 1
        logger.log(
            .warning, "cannot accept connections", times: counters.acceptFailures, error: error)
    }
}
