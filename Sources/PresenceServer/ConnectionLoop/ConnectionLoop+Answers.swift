import EventLoop
import Outboxes
import PresenceCore
import PresenceWire

// Answers out. One that a frame does not hold is split where that can be done, else refused.

extension ConnectionLoop where Link: ~Copyable {
    /// Answers the request that a connection waits for.
    mutating func answer(_ slot: Int, _ answer: Answer, in effects: borrowing Effects) {
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
        append(answer, to: id, of: slot, in: effects)
        settle(slot)
    }

    /// Refuses the request that a connection waits for.
    mutating func refuse(_ slot: Int, _ refusal: Refusal, in effects: borrowing Effects) {
        guard let id = connections[slot].awaiting else { return }
        pool.lend(to: &connections[slot].outbox)
        appendRefusal(refusal, to: id, of: slot, in: effects)
        settle(slot)
    }

    /// Answers a question about the service.
    mutating func answerQuestion(
        _ slot: Int, _ answer: QuestionAnswer, in effects: borrowing Effects
    ) {
        guard let id = connections[slot].awaiting else { return }
        pool.lend(to: &connections[slot].outbox)
        switch answer {
        case .stats(let fields):
            connections[slot].outbox.bytes.appendStatsFrame(fields, to: id)
        case .metrics(let text):
            connections[slot].outbox.bytes.appendTextFrame(text, to: id)
        case .why(let report, let subscriber, let publisher):
            connections[slot].outbox.bytes.appendWhyFrame(
                report, subscriber: subscriber, publisher: publisher, to: id, in: effects)
        case .top(let report):
            connections[slot].outbox.bytes.appendTopFrame(report, to: id, in: effects)
        }
        settle(slot)
    }

    private mutating func appendRefusal(
        _ refusal: Refusal, to id: RequestID, of slot: Int, in effects: borrowing Effects
    ) {
        count(refusal, of: slot)
        connections[slot].outbox.bytes.appendErrorFrame(refusal, to: id, in: effects)
    }

    private mutating func beginServing(_ slot: Int) {
        guard connections[slot].phase == .anonymous else { return }
        connections[slot].enter(.serving)
        cancelDeadline(of: slot)
        watchSilence(of: slot)
    }

    private mutating func append(
        _ answer: Answer, to id: RequestID, of slot: Int, in effects: borrowing Effects
    ) {
        let outcome = connections[slot].outbox.bytes.appendAnswerFrame(
            answer, to: id, in: effects, settings: configuration.engine)
        guard case .tooLarge(let fit) = outcome else { return }
        switch answer {
        case .subscribed(let expires, let count, let states?):
            // The states that do not fit follow the answer, as those of a login list do.
            let first = states.lowerBound..<states.lowerBound + fit
            append(
                .subscribed(expires: expires, count: count, states: first), to: id, of: slot,
                in: effects)
            appendRest(of: states, after: first, to: slot, in: effects)
        case .states(let states) where connections[slot].state.contains(.isInternal):
            // A connection of this process puts the parts together: HTTP has no frames.
            let first = states.lowerBound..<states.lowerBound + fit
            append(.states(first), to: id, of: slot, in: effects)
            appendRest(of: states, after: first, to: slot, in: effects)
        case .states, .sessions:
            // Their requests have no `limit`: names have to be left out.
            appendRefusal(Refusal(.tooMany, limit: fit), to: id, of: slot, in: effects)
        default:
            appendRefusal(
                Refusal(.tooMany, field: .limit, limit: fit), to: id, of: slot, in: effects)
        }
    }

    private mutating func appendRest(
        of states: Range<Int>, after first: Range<Int>, to slot: Int, in effects: borrowing Effects
    ) {
        connections[slot].outbox.bytes.appendEventFrames(
            first.upperBound..<states.upperBound, of: .loginList, in: effects,
            limits: configuration.engine.limits)
    }
}
