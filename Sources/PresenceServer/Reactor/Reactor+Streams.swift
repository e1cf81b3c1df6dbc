import EventLoop
import Logging
import PresenceCore
import PresenceStore

// Events of sockets, and outcomes of the store.

extension Reactor {
    /// Admits a new connection.
    mutating func accept(_ id: StreamID) {
        let slot = enter(id, .anonymous)
        counters.accepted += 1
        guard admit(slot) else { return }
        setDeadline(of: slot, afterSeconds: configuration.connection.loginSeconds)
        loop.startReading(id)
    }

    /// Admits an in-process connection, which is an app server's without a login.
    mutating func acceptInternal(_ id: StreamID) {
        // During shutdown the engine sees no connection changes: reject it.
        guard phase == .serving else { return close(enter(id, .anonymous), .shuttingDown) }
        let slot = enter(id, .serving)
        connections[slot].state = [.isAppServer, .isInternal]
        internalCount += 1
        watchSilence(of: slot)
        let now = now()
        engine.handle(.loginAppServer, from: ConnectionID(id), at: now, into: &effects)
        carryOut(at: now)
        loop.startReading(id)
    }

    private mutating func enter(_ id: StreamID, _ phase: Connection.Phase) -> Int {
        let slot = Int(id.slot)
        while connections.count <= slot {
            connections.append(Connection(id: StreamID(slot: 0, generation: 0)))
        }
        precondition(connections[slot].phase == .free, "a slot that is still in use")
        connections[slot] = Connection(id: id)
        heard.reserve(id.slot)
        connections[slot].enter(phase)
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
        guard connections[slot].phase != .closing, reason == .endOfFile else {
            return abandon(slot)
        }
        count(.lost, of: slot)
        // It has stopped sending: what it asked for before is still carried out and answered.
        connections[slot].enter(.ending)
        setDeadline(of: slot, afterSeconds: configuration.connection.farewellSeconds)
        endIfServed(slot)
    }

    mutating func streamDrained(_ id: StreamID) {
        guard let slot = slot(of: id) else { return }
        connections[slot].state.remove(.isBlocked)
        noteProgress(of: slot)
        progressEnded(of: slot)
        markDirty(slot)
    }

    mutating func streamClosed(_ id: StreamID) {
        guard let slot = slot(of: id) else { return }
        loseSession(of: slot)
        free(slot)
        // Now: the slot may be reused by another connection, which logs in, before the turn ends.
        reportLost(at: now())
    }

    mutating func acceptFailed(_ error: UVError) {
        counters.acceptFailures += 1
        if counters.acceptFailures.isPowerOfTwo {
            logger.warning(
                "cannot accept connections",
                metadata: [
                    "error": "\(error)", "times": "\(counters.acceptFailures)",
                ])
        }
    }

    /// Learns what has become of writes that somebody waits for.
    mutating func report(_ outcomes: [Outcome]) {
        assertAtRest()
        let now = now()
        for outcome in outcomes {
            report(outcome, at: now)
            carryOut(at: now)
        }
    }

    private mutating func report(_ outcome: Outcome, at now: Moment) {
        let ticket = Ticket(number: outcome.ticket)
        switch outcome.result {
        case .committed:
            if ticket == .start { return letIn() }
            engine.committed(ticket, at: now, into: &effects)
        case .failed(let fault):
            counters.storeFailures += 1
            if counters.storeFailures.isPowerOfTwo {
                logger.error(
                    "cannot write to the database",
                    metadata: [
                        "fault": "\(fault)", "times": "\(counters.storeFailures)",
                    ])
            }
            guard ticket != .start else {
                refusal = .storeFault(fault)
                return stop()
            }
            engine.failed(ticket, at: now, into: &effects)
        }
    }

    /// Seconds in which all accounts that were online can have logged in again, twice the minimum.
    private var secondsToServeReturns: Int {
        guard let pace = configuration.admission.loginPace else { return 0 }
        return engine.currentStats.sessions / pace.perSecond * 2
    }

    private mutating func letIn() {
        guard phase == .starting else { return }
        do throws(UVError) {
            try loop.startListening()
        } catch {
            refusal = .address("\(configuration.host):\(configuration.port)", error)
            return stop()
        }
        enter(.serving)
        engine.beginReturns(at: now(), secondsMin: secondsToServeReturns)
        ready()
    }
}

extension Int {
    /// For logging the first, second, fourth, eighth … time only.
    var isPowerOfTwo: Bool { self > 0 && self & (self - 1) == 0 }
}
