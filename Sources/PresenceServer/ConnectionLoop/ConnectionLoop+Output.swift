import Connections
import EventLoop
import Outboxes
import PresenceCore
import PresenceWire

// Carries out what the engine host has for the loop.

extension ConnectionLoop where Link: ~Copyable {
    mutating func carryOut(
        _ item: OutboundItem, of batch: borrowing Outbound, at now: Moment
    ) {
        switch item {
        case .answer, .refuse, .answerQuestion, .states, .synced, .caughtUp, .missed, .feed, .close,
            .relay, .credentials:
            carryOut(ofClient: item, of: batch.shared, at: now)
        case .deliver, .deliverStanzas, .deliverAlways, .direct, .contact, .expired:
            carryOut(ofMany: item, of: batch, at: now)
        case .measure, .configure, .trim, .startListening, .serve, .stopListening, .farewell, .stop:
            carryOut(ofTheService: item)
        }
    }

    /// What is for one client.
    private mutating func carryOut(
        ofClient item: OutboundItem, of shared: borrowing SharedOutput, at now: Moment
    ) {
        switch item {
        case .answer(let connection, let index):
            guard let slot = clients.slot(of: connection) else { return }
            clients.answer(slot, shared.effects.answers[index], in: shared.effects)
        case .refuse(let connection, let refusal):
            guard let slot = clients.slot(of: connection) else { return }
            clients.refuse(slot, refusal, in: shared.effects)
        case .answerQuestion(let connection, let answer):
            guard let slot = clients.slot(of: connection) else { return }
            clients.answerQuestion(slot, answer, in: shared.effects)
        case .credentials(let connection, let answer):
            guard let slot = clients.slot(of: connection) else { return }
            clients.protocols[slot].client?.take(answer, &clients)
        case .states(let connection, let range, let kind):
            guard let slot = clients.servedSlot(of: connection) else { return }
            clients.table.updateList(of: slot) { $0.pieceArrived() }
            clients.sendStates(range, of: kind.list, to: slot, in: shared.effects)
            clients.table.markDirty(slot)
        case .synced(let connection, let count):
            guard let slot = clients.servedSlot(of: connection) else { return }
            clients.table.updateList(of: slot) { $0.listEnded() }
            clients.sendSynced(to: slot, count: count)
            clients.endIfServed(slot)
        case .caughtUp(let connection):
            guard let slot = clients.slot(of: connection) else { return }
            clients.table.updateList(of: slot) { $0.caughtUp() }
            // There may be more to ask for.
            clients.table.markDirty(slot)
        case .missed(let connection):
            guard let slot = clients.slot(of: connection),
                clients.table.phase(of: slot) == .serving
            else { return }
            clients.table.missed(slot)
        case .feed(let connection, let message):
            guard let slot = clients.servedSlot(of: connection) else { return }
            clients.send(message, to: slot, from: shared)
        case .relay(let body, let connection):
            guard let slot = clients.slot(of: connection) else { return }
            clients.relay(
                shared.bytes.span.extracting(shared.range(of: body)), to: slot, at: now.mono)
        case .close(let connection, let reason, let seconds):
            guard let slot = clients.slot(of: connection) else { return }
            if reason == .tooSlow, clients.table.phase(of: slot) != .closing {
                clients.counters.closedTooSlow += 1
            }
            clients.close(slot, reason, retryAfterSeconds: seconds)
        default: preconditionFailure("an item that is not for one client")
        }
    }

    /// What is for many clients.
    private mutating func carryOut(
        ofMany item: OutboundItem, of batch: borrowing Outbound, at now: Moment
    ) {
        switch item {
        case .deliver(let body, let seq, let topic, let receivers):
            let range = batch.shared.range(of: body)
            clients.budget.spendDelivery(byteCount: range.count, receivers: receivers.count)
            clients.deliver(
                batch.shared.bytes.span.extracting(range), seq, of: topic,
                to: batch.own.receivers[receivers], at: now.mono)
        case .deliverStanzas(let body, let seq, let topic, let receivers):
            let range = batch.shared.range(of: body)
            clients.budget.spendDelivery(byteCount: range.count, receivers: receivers.count)
            clients.deliverStanzas(
                batch.shared.bytes.span.extracting(range), seq, of: topic,
                to: batch.own.receivers[receivers], at: now.mono)
        case .deliverAlways(let body, let receivers):
            clients.deliverAll(
                Array(batch.shared.bytes[batch.shared.range(of: body)]),
                to: batch.own.receivers[receivers])
        case .direct(let body, let delivery, let receivers):
            clients.deliverDirected(
                body, delivery, of: batch.shared, to: batch.own.receivers[receivers],
                at: now.mono)
        case .contact(let notice, let receivers):
            clients.notify(
                batch.shared.effects.notices[notice], to: batch.own.receivers[receivers],
                in: batch.shared.effects)
        case .expired(let type, let cause, let names, let receivers):
            var rest = names
            while !rest.isEmpty {
                var body: [UInt8] = []
                rest = body.appendExpiredBody(
                    type, cause, rest, in: batch.shared.effects,
                    limits: configuration.engine.limits)
                clients.deliverAll(body, to: batch.own.receivers[receivers])
            }
        default: preconditionFailure("an item that is not for many clients")
        }
    }

    /// What is about the loop as a whole.
    private mutating func carryOut(ofTheService item: OutboundItem) {
        switch item {
        case .measure(let measurement, let question):
            var report = clients.report(measurement)
            report.measured.lag = loopTimes.lag
            report.measured.turns = loopTimes.turns
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
        default: preconditionFailure("an item about a connection")
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
