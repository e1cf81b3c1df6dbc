import Connections
import PresenceCore

// Outboxes are written, each once in a turn (`ConnectionTable+Writing`), and lists are continued:
// a client is sent the next piece when it has taken everything.

extension ConnectionLoop where Link: ~Copyable {
    /// Writes outboxes that have something, and gives lists their next share.
    mutating func flush(at now: Moment) {
        var listBytesLeft = clients.configuration.connection.listBytesPerTurn
        var listed: [Int] = []
        for _ in 0..<clients.table.beginWriting() {
            let slot = clients.table.takeDirty()
            let rest = flush(slot, &listBytesLeft, at: now)
            // Not before: what it has asked for meanwhile is written, and gives it no place.
            clients.table.leaveQueue(slot)
            switch rest {
            case .none: break
            case .whole: clients.table.markDirty(slot)
            case .further: listed.append(slot)
            }
        }
        // Behind those that have had nothing of their lists.
        for slot in listed { clients.table.markDirty(slot) }
        clients.table.endWriting()
    }

    /// Writes an outbox and gives the connection a share of its list. Returns what of that waits
    /// for the next turn.
    private mutating func flush(
        _ slot: Int, _ listBytesLeft: inout Int, at now: Moment
    ) -> ListShare {
        let framesMax = clients.configuration.connection.listFramesPerTurn
        var framesLeft = framesMax
        while write(slot, at: now) {
            switch clients.table.phase(of: slot) {
            case .closing:
                clients.table.closeAfterWrites(slot)
                return .none
            case .anonymous:
                if clients.beginTLSIfDue(of: slot) { return .none }
            case .free, .serving, .ending: break
            }
            guard clients.table.list(of: slot).canAsk else {
                clients.resumeIfPaused(slot)
                return .none
            }
            guard framesLeft > 0, listBytesLeft > 0 else {
                return framesLeft < framesMax ? .further : .whole
            }
            framesLeft -= 1
            askForMore(slot, at: now)
            listBytesLeft -= clients.table.outboxBytes(of: slot)
        }
        return .none
    }

    /// What of a connection's list waits for the next turn.
    private enum ListShare {
        case none
        /// It has had nothing.
        case whole
        /// It has had some, and more follows.
        case further
    }

    /// Writes an outbox; whether the socket has accepted everything.
    private mutating func write(_ slot: Int, at now: Moment) -> Bool {
        switch clients.table.write(slot, at: now.mono) {
        case .everything: return true
        case .pending: return false
        case .broken:
            clients.end(slot, .lost, .lost, .atOnce)
            return false
        }
    }

    /// Reports to the engine host that a connection has written everything.
    private mutating func askForMore(_ slot: Int, at now: Moment) {
        if clients.table.phase(of: slot) == .ending {
            // It has taken what there was, so it has as long for the next share of its list.
            clients.setDeadline(
                of: slot, afterSeconds: clients.configuration.connection.farewellSeconds)
            clients.table.noteProgress(of: slot, at: now.mono)
        }
        clients.table.updateList(of: slot) { $0.ask() }
        clients.inbound.append(.drained(clients.connectionID(slot)))
        exchange(at: now)
    }
}
