import EventLoop
import Logging
import PresenceCore
import PresenceStore

extension Reactor: LoopHandler {
    func streamAccepted(_ id: StreamID) {
        let slot = Int(id.slot)
        while connections.count <= slot {
            connections.append(Connection(id: StreamID(slot: 0, generation: 0)))
        }
        connections[slot] = Connection(id: id, phase: .anonymous)
        counters.accepted += 1
        setDeadline(of: slot, afterSeconds: configuration.connection.loginSeconds)
        loop.startReading(id)
    }

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        guard let slot = slot(of: id) else { return }
        unsafe receive(RawSpan(_unsafeBytes: bytes), in: slot)
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        guard let slot = slot(of: id) else { return }
        guard connections[slot].phase != .closing, reason == .endOfFile else {
            return abandon(slot)
        }
        // It may have stopped sending only: what it asked for is still answered.
        loseSession(of: slot)
        connections[slot].phase = .ending
        setDeadline(of: slot, afterSeconds: configuration.connection.farewellSeconds)
        if connections[slot].awaiting == nil { finish(slot) }
    }

    func streamDrained(_ id: StreamID) {
        guard let slot = slot(of: id) else { return }
        connections[slot].state.remove(.isBlocked)
        markDirty(slot)
    }

    func streamClosed(_ id: StreamID) {
        guard let slot = slot(of: id) else { return }
        loseSession(of: slot)
        free(slot)
        // At once: the slot may be given to another connection, which logs in, before a turn ends.
        reportLost(at: now())
    }

    func acceptFailed(_ error: UVError) {
        counters.acceptFailures += 1
        if counters.acceptFailures.isPowerOfTwo {
            logger.warning(
                "cannot accept connections",
                metadata: [
                    "error": "\(error)", "times": "\(counters.acceptFailures)",
                ])
        }
    }

    func timerFired() {
        // What is due is done at the end of the turn, after those who have spoken are heard.
    }

    func wokenUp() {
        let contents = mailbox.take()
        let now = now()
        for outcome in contents.outcomes {
            report(outcome, at: now)
            carryOut(at: now)
        }
        if contents.isToStop { beginStopping() }
    }

    func signalReceived(_ signal: CInt) {
        logger.info("stopping", metadata: ["signal": "\(signal)"])
        beginStopping()
    }

    private func report(_ outcome: Outcome, at now: Moment) {
        let ticket = Ticket(number: outcome.ticket)
        switch outcome.result {
        case .committed:
            if outcome.ticket == 0 { return letIn() }
            engine.committed(ticket, at: now, into: &effects)
        case .failed(let fault):
            counters.storeFailures += 1
            if counters.storeFailures.isPowerOfTwo {
                logger.error(
                    "the store cannot be written",
                    metadata: [
                        "fault": "\(fault)", "times": "\(counters.storeFailures)",
                    ])
            }
            guard outcome.ticket != 0 else {
                refusal = .storeFault(fault)
                return stop()
            }
            engine.failed(ticket, at: now, into: &effects)
        }
    }

    private func letIn() {
        guard phase == .starting else { return }
        phase = .serving
        loop.resumeAccepting()
        ready()
    }
}

extension Int {
    /// For logging the first, second, fourth, eighth … time only.
    var isPowerOfTwo: Bool { self > 0 && self & (self - 1) == 0 }
}
