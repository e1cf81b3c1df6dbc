import EventLoop
import Outboxes
import PresenceCore
import PresenceStore
import PresenceWire

// What the engine wants done: frames into outboxes, writes for the store, connections closed.

extension Reactor {
    /// Carries out the effects of the last call of the engine, and what follows from them.
    mutating func carryOut(at now: Moment) {
        carryOutItems(at: now)
        reportLost(at: now)
    }

    mutating func carryOutItems(at now: Moment) {
        guard !effects.items.isEmpty else { return }
        for index in effects.items.indices { carryOut(effects.items[index], at: now) }
        effects.removeAll()
        framedEvent = nil
    }

    /// Puts an event into `frame`, unless it is what stands there.
    private mutating func encode(_ event: Int) {
        guard framedEvent != event else { return }
        frame.removeAll(keepingCapacity: true)
        frame.appendEventFrame(effects.events[event], in: effects)
        framedEvent = event
    }

    private mutating func carryOut(_ effect: Effect, at now: Moment) {
        switch effect {
        case .answer(let connection, let index):
            guard let slot = slot(of: connection) else { return }
            answer(slot, effects.answers[index])
        case .refuse(let connection, let refusal):
            guard let slot = slot(of: connection) else { return }
            refuse(slot, refusal)
        case .keep(let id, let event):
            encode(event)
            // Of its own size: the other has grown to that of the largest.
            kept[id] = Array(frame[...])
        case .deliverKept(let id, let topic, let receivers):
            guard let bytes = kept[id] else {
                preconditionFailure("an event that was not retained")
            }
            deliver(bytes, id.seq, of: topic, to: receivers)
        case .drop(let id):
            kept[id] = nil
        case .deliver(let event, let topic, let receivers):
            encode(event)
            deliver(frame, effects.events[event].seq, of: topic, to: receivers)
        case .feed(let event, let topic):
            encode(event)
            feed?.log.append(
                frame.eventOfFrame, seq: effects.events[event].seq, topic: topic, at: now.mono)
        case .states(let connection, let range, let kind):
            guard let slot = slot(of: connection) else { return }
            pool.lend(to: &connections[slot].outbox)
            connections[slot].outbox.bytes.appendEventFrames(
                range, of: kind.list, in: effects, limits: configuration.engine.limits)
            markDirty(slot)
        case .synced(let connection, let count):
            guard let slot = slot(of: connection) else { return }
            connections[slot].state.remove(.isListing)
            pool.lend(to: &connections[slot].outbox)
            connections[slot].outbox.bytes.appendSyncedFrame(count: count)
            markDirty(slot)
            endIfServed(slot)
        case .caughtUp(let connection):
            guard let slot = slot(of: connection) else { return }
            caughtUp(slot)
        case .expired(let type, let names, let receivers):
            framedEvent = nil
            frame.removeAll(keepingCapacity: true)
            frame.appendExpiredFrames(
                type, names, in: effects, limits: configuration.engine.limits)
            deliver(frame, to: receivers)
        case .persist(let ticket, let index):
            submissions.append(
                Submission(ticket: ticket?.number, write: write(for: effects.records[index])))
        case .close(let connection, let reason):
            guard let slot = slot(of: connection) else { return }
            close(slot, reason)
        }
    }
}

extension StatesKind {
    fileprivate var list: EventList {
        switch self {
        case .loginList: .loginList
        case .missed: .changes
        case .feedList: .feedList
        }
    }
}
