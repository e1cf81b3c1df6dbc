import Connections
import EventLoop
import PresenceCore

// Input: what arrives, and what had to wait for a turn.

extension ConnectionLoop where Link: ~Copyable {
    /// Takes in what a connection has sent.
    mutating func receive(_ chunk: RawSpan, from id: StreamID) {
        assertAtRest()
        guard let slot = clients.table.slot(of: id) else { return }
        var offset = 0
        let now = now()
        clients.table.hear(slot, byteCount: chunk.byteCount, at: now.mono)
        // Earlier input may wait for its turn.
        if !clients.table.isResumable(slot) || !clients.canWait(slot, chunk, offset) {
            if !clients.budget.isServing(slot) {
                let bytesWaiting = clients.bytesBuffered(slot) + chunk.byteCount
                let isLight = clients.isLight(slot, bytesWaiting: bytesWaiting)
                clients.budget.beginShare(of: slot, isLight: isLight)
            }
            read(chunk, from: &offset, in: slot, at: now)
        }
        guard clients.table.phase(of: slot).isOpen, offset < chunk.byteCount else { return }
        // It has to wait. What has been read is kept; what it sends next stays in the kernel.
        clients.keep(chunk, from: &offset, of: slot)
        // Unless that is little, and for the next turn only.
        let bytesWaiting = clients.bytesBuffered(slot)
        let isShort =
            clients.table.isResumable(slot) && clients.isLight(slot, bytesWaiting: bytesWaiting)
        if !isShort { clients.table.pauseReading(slot) }
    }

    /// Continues with connections whose request has been answered, or whose input had to wait for
    /// this turn. It begins with them, so those that have waited go before what arrives next.
    mutating func resume(at now: Moment) {
        clients.budget.beginTurn(configuration.connection.turn, at: now.mono)
        var lightLeft = clients.table.lightCount
        while lightLeft > 0, clients.budget.hasTurnForLight, let next = clients.table.takeLight() {
            lightLeft -= 1
            if next.isDue { resume(next.slot, isLight: true, at: now) }
        }
        while clients.budget.hasTurnForHeavy, let next = clients.table.takeHeavy() {
            if next.isDue { resume(next.slot, isLight: false, at: now) }
        }
        clients.table.endResuming()
    }

    private mutating func resume(_ slot: Int, isLight: Bool, at now: Moment) {
        clients.budget.beginShare(of: slot, isLight: isLight)
        // Also if it needs more: reading from it again is work, too.
        clients.budget.spend(1)
        var offset = 0
        read(RawSpan(), from: &offset, in: slot, at: now)
        guard !clients.table.isResumable(slot), clients.isListening(slot) else { return }
        if clients.table.hasInputEnded(slot) {
            clients.endIfReadUp(slot)
        } else {
            clients.table.resumeReading(slot)
        }
    }

    /// Processes messages until none is left, or one has to wait.
    private mutating func read(
        _ chunk: RawSpan, from offset: inout Int, in slot: Int, at now: Moment
    ) {
        var isLater = false
        while clients.isListening(slot) {
            guard clients.table.phase(of: slot).isOpen else { return }
            // Other connections get their share of the turn, too.
            guard clients.hasTurn(slot, chunk, offset) else {
                // It is we who read later, so no timeout for the message.
                clients.clearMessageDeadline(of: slot)
                return clients.postpone(slot, bytesAhead: chunk.byteCount - offset)
            }
            let outboxBytes = clients.table.outboxBytes(of: slot)
            switch clients.readNext(chunk, from: &offset, in: slot) {
            case .ended:
                exchange(at: now)
                return
            case .needMore:
                clients.watchMessage(of: slot, isNew: isLater)
                exchange(at: now)
                return
            case .processed(let byteCount, let isInMessage):
                let work = exchange(at: now)
                if !isInMessage {
                    isLater = true
                    clients.messageEnded(of: slot)
                }
                clients.charge(slot, byteCount, work, since: outboxBytes, at: now)
            }
        }
        // Reading is paused on our side, so no timeout for a message.
        clients.clearMessageDeadline(of: slot)
    }
}
