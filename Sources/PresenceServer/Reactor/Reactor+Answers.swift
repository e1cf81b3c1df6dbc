import EventLoop
import Outboxes
import PresenceCore
import PresenceStore
import PresenceWire

// Answers out. One that a frame does not hold is split where that can be done, else refused.

extension Reactor {
    /// Answers the request that a connection waits for.
    mutating func answer(_ slot: Int, _ answer: Answer) {
        guard let id = connections[slot].awaiting else { return }
        switch answer {
        case .loggedIn(let login):
            counters.loginsOfClients += 1
            connections[slot].state.insert(.isListing)
            beginServing(slot)
            if let term = login.term { limit(slot, to: term) }
        case .refreshed(let term):
            limit(slot, to: term)
        case .loggedInAppServer:
            counters.loginsOfAppServers += 1
            connections[slot].state.insert(.isAppServer)
            beginServing(slot)
        default:
            break
        }
        pool.lend(to: &connections[slot].outbox)
        append(answer, to: id, of: slot)
        settle(slot)
    }

    /// Refuses the request that a connection waits for.
    mutating func refuse(_ slot: Int, _ refusal: Refusal) {
        guard let id = connections[slot].awaiting else { return }
        pool.lend(to: &connections[slot].outbox)
        appendRefusal(refusal, to: id, of: slot)
        settle(slot)
    }

    private mutating func appendRefusal(_ refusal: Refusal, to id: RequestID, of slot: Int) {
        count(refusal, of: slot)
        connections[slot].outbox.bytes.appendErrorFrame(refusal, to: id, in: effects)
    }

    private mutating func beginServing(_ slot: Int) {
        guard connections[slot].phase == .anonymous else { return }
        connections[slot].enter(.serving)
        cancelDeadline(of: slot)
        watchSilence(of: slot)
    }

    private mutating func append(_ answer: Answer, to id: RequestID, of slot: Int) {
        if case .stats = answer {
            let fields = MetricTable.stats(measure(at: now()))
            return connections[slot].outbox.bytes.appendStatsFrame(fields, to: id)
        }
        if case .sessions(let entries) = answer { fillInLastHeard(of: entries) }
        let outcome = connections[slot].outbox.bytes.appendAnswerFrame(
            answer, to: id, in: effects, settings: configuration.engine)
        guard case .tooLarge(let fit) = outcome else { return }
        switch answer {
        case .subscribed(let expires, let count, let states?):
            // The states that do not fit follow the answer, as those of a login list do.
            let first = states.lowerBound..<states.lowerBound + fit
            append(
                .subscribed(expires: expires, count: count, states: first), to: id, of: slot)
            appendRest(of: states, after: first, to: slot)
        case .states(let states) where connections[slot].state.contains(.isInternal):
            // A connection of this process puts the parts together: HTTP has no frames.
            let first = states.lowerBound..<states.lowerBound + fit
            append(.states(first), to: id, of: slot)
            appendRest(of: states, after: first, to: slot)
        case .states, .sessions:
            // Their requests have no `limit`: names have to be left out.
            appendRefusal(Refusal(.tooMany, limit: fit), to: id, of: slot)
        default:
            appendRefusal(Refusal(.tooMany, field: .limit, limit: fit), to: id, of: slot)
        }
    }

    private mutating func fillInLastHeard(of entries: Range<Int>) {
        let now = now()
        for place in entries {
            effects.sessions[place].lastHeard = lastHeard(of: effects.sessions[place], at: now)
        }
    }

    /// When a session was last heard.
    func lastHeard(of entry: SessionEntry, at now: Moment) -> Wall {
        guard let connection = entry.connectionID, slot(of: connection) != nil else {
            return entry.lastHeard
        }
        return now.wall(at: heard.time(connection.slot))
    }

    private mutating func appendRest(of states: Range<Int>, after first: Range<Int>, to slot: Int) {
        connections[slot].outbox.bytes.appendEventFrames(
            first.upperBound..<states.upperBound, of: .loginList, in: effects,
            limits: configuration.engine.limits)
    }
}
