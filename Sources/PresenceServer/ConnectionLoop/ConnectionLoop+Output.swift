import Connections
import EventLoop
import Outboxes
import PresenceCore
import PresenceWire
import PresenceXMPP

// Carries out what the engine host has for the loop.

extension ConnectionLoop where Link: ~Copyable {
    mutating func carryOut(
        _ item: OutboundItem, of batch: borrowing Outbound, at now: Moment
    ) {
        switch item {
        case .caller(let connection, let item):
            guard let slot = clients.slot(of: connection) else { return }
            carryOut(item, for: slot, of: batch.shared)
        case .client(let connection, let item):
            guard let slot = clients.slot(of: connection) else { return }
            carryOut(item, for: slot, of: batch.shared, at: now)
        case .fanOut(let item, let receivers):
            carryOut(item, to: batch.own.receivers[receivers.range], of: batch.shared, at: now)
        case .loop(let item): carryOut(item)
        }
    }

    /// What a client has asked for, or its end.
    private mutating func carryOut(
        _ item: CallerItem, for slot: Int, of shared: borrowing SharedOutput
    ) {
        switch item {
        case .answer(let index):
            clients.answer(slot, shared.effects.answers[index], in: shared.effects)
        case .reject(let rejection):
            clients.reject(slot, rejection, in: shared.effects)
        case .answerQuestion(let answer):
            clients.answer(slot, answer, in: shared.effects)
        case .states(let states, let kind):
            guard clients.isServed(slot) else { return }
            clients.table.updateList(of: slot) { $0.pieceArrived() }
            clients.sendStates(states.range, of: kind.list, to: slot, in: shared.effects)
            clients.table.markDirty(slot)
        case .feed(let message):
            guard clients.isServed(slot) else { return }
            clients.send(message, to: slot, from: shared)
        case .close(let reason, let seconds):
            if reason == .tooSlow, clients.table.phase(of: slot) != .closing {
                clients.counters.closedTooSlow += 1
            }
            clients.close(slot, reason, retryAfterSeconds: seconds)
        }
    }

    /// What only a client has.
    private mutating func carryOut(
        _ item: ClientItem, for slot: Int, of shared: borrowing SharedOutput, at now: Moment
    ) {
        switch item {
        case .credentials(let answer): clients.answer(slot, answer)
        case .card(let answer): clients.answer(slot, answer)
        case .relay(let stanza):
            clients.relay(shared.part(of: stanza), of: shared.stanzas, to: slot, at: now.mono)
        case .synced(let count):
            guard clients.isServed(slot) else { return }
            clients.table.updateList(of: slot) { $0.listEnded() }
            clients.sendSynced(to: slot, count: count)
            clients.endIfServed(slot)
        case .caughtUp:
            clients.table.updateList(of: slot) { $0.caughtUp() }
            // There may be more to ask for.
            clients.table.markDirty(slot)
        case .missed:
            guard clients.table.phase(of: slot) == .serving else { return }
            clients.table.missed(slot)
        }
    }

    /// What is for many clients.
    private mutating func carryOut(
        _ item: FanOutItem, to receivers: ArraySlice<UInt32>, of shared: borrowing SharedOutput,
        at now: Moment
    ) {
        switch item {
        case .deliver(let seq, let body, let topic):
            let range = shared.range(of: body)
            clients.budget.spendDelivery(byteCount: range.count, receivers: receivers.count)
            clients.deliver(
                shared.bytes.span.extracting(range), seq, of: topic, to: receivers, at: now.mono)
        case .deliverStanzas(let seq, let stanzas, let topic):
            let part = shared.part(of: stanzas)
            clients.budget.spendDelivery(byteCount: part.byteCount, receivers: receivers.count)
            clients.deliverStanzas(
                part, of: shared.stanzas, seq, of: topic, to: receivers, at: now.mono)
        case .deliverAlways(let body):
            clients.deliverAll(Array(shared.bytes[shared.range(of: body)]), to: receivers)
        case .copy(let body, let missedCount):
            let range = shared.range(of: body)
            clients.budget.spendDelivery(byteCount: range.count, receivers: receivers.count)
            clients.deliverCopy(
                shared.bytes.span.extracting(range), missedCount: missedCount, to: receivers,
                at: now.mono)
        case .messages(let stanzas, let last):
            clients.deliverMessages(stanzas, last: last, of: shared, to: receivers)
        case .direct(let stanzas, let delivery):
            clients.deliverDirected(stanzas, delivery, of: shared, to: receivers, at: now.mono)
        case .contact(let notice):
            clients.notify(shared.effects.notices[notice], to: receivers, in: shared.effects)
        case .expired(let type, let cause, let names):
            var rest = names.range
            while !rest.isEmpty {
                var body: [UInt8] = []
                rest = body.appendExpiredBody(
                    type, cause, rest, in: shared.effects, limits: configuration.engine.limits)
                clients.deliverAll(body, to: receivers)
            }
        }
    }

    /// What is about the loop as a whole.
    private mutating func carryOut(_ item: LoopItem) {
        switch item {
        case .measure(let measurement, let question):
            var report = clients.report(measurement)
            report.measured.times = loopTimes
            clients.inbound.append(.measured(report, question: question))
        case .configure(let new): clients.apply(new)
        case .trim: clients.table.trim()
        case .startListening: startListening()
        case .serve: enter(.serving)
        case .stopListening: loop.stopListening()
        case .farewell: closeAll()
        case .stop:
            enter(.stopped)
            loop.stop()
        }
    }

    private mutating func startListening() {
        do throws(UVError) {
            try loop.startListening()
            clients.inbound.append(.listening(nil))
        } catch {
            clients.inbound.append(.listening(error))
        }
    }

    /// Closes every connection because the service shuts down.
    private mutating func closeAll() {
        enter(.farewell)
        let seconds = configuration.connection.farewellSecondsAtStop
        for slot in clients.table.indices {
            clients.close(slot, .shuttingDown)
            guard clients.table.phase(of: slot) == .closing else { continue }
            clients.setDeadline(of: slot, afterSeconds: seconds)
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
