import EventLoop
import Outboxes
import PresenceCore
import PresenceWire

// Carries out what the engine host has for the loop: messages sent, connections closed.

extension ConnectionLoop where Link: ~Copyable {
    /// Hands over what there is for the engine host, and does what comes back, until nothing is
    /// left.
    mutating func exchange(at now: Moment) {
        while !inbound.isEmpty {
            link.exchange(&inbound, into: &outbound, at: now)
            carryOut(at: now)
        }
    }

    /// Does what the engine host has handed over later.
    mutating func take(_ output: inout Outbound) {
        assertAtRest()
        swap(&output, &outbound)
        let now = now()
        carryOut(at: now)
        swap(&output, &outbound)
        exchange(at: now)
    }

    /// Carries out what is in `outbound`. What follows from that is in `inbound`.
    mutating func carryOut(at now: Moment) {
        guard !outbound.isEmpty else { return }
        var batch = spareOutbound.take() ?? Outbound()
        swap(&batch, &outbound)
        for item in batch.own.items { carryOut(item, of: batch, at: now) }
        guard Link.reusesOutput else { return }
        batch.removeAll()
        spareOutbound = batch
    }

    private mutating func carryOut(
        _ item: OutboundItem, of batch: borrowing Outbound, at now: Moment
    ) {
        switch item {
        case .deliver(let body, let seq, let topic, let receivers):
            let range = batch.shared.range(of: body)
            budget.spendDelivery(byteCount: range.count, receivers: receivers.count)
            deliver(
                batch.shared.bytes.span.extracting(range), seq, of: topic,
                to: batch.own.receivers[receivers])
        case .answer(let connection, let index):
            guard let slot = slot(of: connection) else { return }
            answer(slot, batch.shared.effects.answers[index], in: batch.shared.effects)
        case .refuse(let connection, let refusal):
            guard let slot = slot(of: connection) else { return }
            refuse(slot, refusal, in: batch.shared.effects)
        case .answerQuestion(let connection, let answer):
            guard let slot = slot(of: connection) else { return }
            answerQuestion(slot, answer, in: batch.shared.effects)
        case .states(let connection, let range, let kind):
            guard let slot = servedSlot(of: connection) else { return }
            connections[slot].pulling.pieceArrived()
            send(range, of: kind.list, to: slot, in: batch.shared.effects)
            markDirty(slot)
        case .synced(let connection, let count):
            guard let slot = servedSlot(of: connection) else { return }
            connections[slot].pulling.listEnded()
            sendSynced(to: slot, count: count)
            endIfServed(slot)
        case .caughtUp(let connection):
            guard let slot = slot(of: connection) else { return }
            connections[slot].pulling.caughtUp()
            // There may be more to ask for.
            markDirty(slot)
        case .missed(let connection):
            guard let slot = slot(of: connection), connections[slot].phase == .serving else {
                return
            }
            connections[slot].pulling.missEvent()
            markDirty(slot)
        case .expired(let type, let cause, let names, let receivers):
            var rest = names
            while !rest.isEmpty {
                body.removeAll(keepingCapacity: true)
                rest = body.appendExpiredBody(
                    type, cause, rest, in: batch.shared.effects,
                    limits: configuration.engine.limits)
                deliverAll(body, to: batch.own.receivers[receivers])
            }
        case .deliverAlways(let body, let receivers):
            deliverAll(
                Array(batch.shared.bytes[batch.shared.range(of: body)]),
                to: batch.own.receivers[receivers])
        case .feed(let connection, let message):
            guard let slot = servedSlot(of: connection) else { return }
            send(message, to: slot, from: batch.shared)
        case .close(let connection, let reason, let seconds):
            guard let slot = slot(of: connection) else { return }
            if reason == .tooSlow, connections[slot].phase != .closing {
                counters.closedTooSlow += 1
            }
            close(slot, reason, retryAfterSeconds: seconds)
        case .deliverStanzas, .relay, .direct, .contact, .credentials:
            carryOut(ofXMPP: item, of: batch)
        case .callRoll, .measure, .configure, .trim, .startListening, .serve, .stopListening,
            .farewell, .stop:
            carryOut(ofTheService: item, at: now)
        }
    }

    /// The slot of a connection that is still sent what it has asked for. One that is closing has
    /// been sent its last frame.
    private func servedSlot(of connection: ConnectionID) -> Int? {
        guard let slot = slot(of: connection) else { return nil }
        switch connections[slot].phase {
        case .serving, .ending: return slot
        case .free, .anonymous, .closing: return nil
        }
    }

    /// What is about the loop as a whole.
    private mutating func carryOut(ofTheService item: OutboundItem, at now: Moment) {
        switch item {
        case .callRoll(let number): beginReadingUp(number)
        case .measure(let measurement, let question):
            inbound.append(.measured(report(measurement), question: question))
        case .configure(let new):
            configuration = new
            decoder.apply(configuration.engine.limits)
            xmpp?.apply(configuration.engine.limits)
            loop.use(configuration.tls?.context, ofListeners: configuration.contextsOfListeners)
        case .trim:
            pool.trim()
            frames.trim()
        case .startListening: startListening()
        case .serve: enter(.serving)
        case .stopListening: loop.stopListening()
        case .farewell: sayFarewell()
        case .stop:
            enter(.stopped)
            loop.stop()
        default: preconditionFailure("an item about a connection")
        }
    }

    private mutating func startListening() {
        do throws(UVError) {
            try loop.startListening()
            inbound.append(.listening(nil))
        } catch {
            inbound.append(.listening(error))
        }
    }

    /// Sends a feed reader what there is for it.
    private mutating func send(
        _ message: FeedMessage, to slot: Int, from shared: borrowing SharedOutput
    ) {
        switch message {
        case .began(let cursor):
            guard let id = connections[slot].input.awaiting else { return }
            connections[slot].pulling.beginFeed()
            send(to: slot) { $0.appendFeedAnswerBody(goingOnFrom: cursor, to: id) }
            return settle(slot)
        case .reset:
            send(to: slot) { $0.appendFeedResetBody() }
        case .events(let share, let cursor):
            let events = shared.bytes[shared.range(of: share.list)]
            send(to: slot) { $0.appendFeedEventsBody(events, cursor: cursor) }
        case .synced(let cursor):
            send(to: slot) { $0.appendFeedSyncedBody(cursor: cursor) }
        }
        connections[slot].pulling.pieceArrived()
    }

    /// Closes every connection because the service shuts down.
    private mutating func sayFarewell() {
        enter(.farewell)
        for slot in connections.indices {
            close(slot, .shuttingDown)
            guard connections[slot].phase == .closing else { continue }
            setDeadline(
                of: slot, afterSeconds: configuration.connection.farewellSecondsAtStop)
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
