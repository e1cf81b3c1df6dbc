import Connections
import PresenceCore
import PresenceStore
import PresenceWire

// Effects of the engine: writes go to the store, events to the feed, and everything else to the
// loop that has the connection.

extension EngineHost {
    /// Sorts the effects of the last call of the engine.
    mutating func sort(at now: Moment) {
        guard !output.shared.effects.items.isEmpty else { return }
        for index in output.shared.effects.items.indices {
            sort(output.shared.effects.items[index], at: now)
        }
        output.sorted()
    }

    /// Hands the output to the only connection loop, and to the loops in process.
    mutating func handOver(into outbound: inout Outbound) {
        guard !output.isEmpty else {
            // Effects for the store and the feed only.
            return output.removeAll()
        }
        if output.isForFirstOnly { return output.exchange(with: &outbound) }
        let parts = output.take()
        outbound = parts[0].outbound
        handToLoopsInProcess(parts)
    }

    /// Hands the output to the loops in process, and returns a part for each connection loop.
    mutating func handOver() -> ArraySlice<SealedOutbound> {
        let parts = output.take(stalled: stalledLoops)
        handToLoopsInProcess(parts)
        return parts.prefix(loops.count)
    }

    private func handToLoopsInProcess(_ parts: [SealedOutbound]) {
        for box in boxesInProcess where !parts[box.loop].isEmpty { box.hand(parts[box.loop]) }
    }

    private mutating func sort(_ effect: Effect, at now: Moment) {
        switch effect {
        case .deliver(let event, let topic, let receivers):
            let seq = output.shared.effects.events[event].seq
            let (native, xmpp) = output.divide(receivers)
            if !native.isEmpty {
                let body = output.body(of: event)
                output.append(
                    .deliver(seq: seq, body, topic), to: native, omitting: stalledLoops)
            }
            if !xmpp.isEmpty {
                deliverStanzas(output.stanzas(of: event), seq, of: topic, to: xmpp)
            }
            if !stalledLoops.isEmpty { withhold(topic, seq, from: receivers, at: now.wall) }
        case .answer(let connection, let index):
            if case .sessions(let entries, _) = output.shared.effects.answers[index] {
                fillInLastHeard(of: entries, at: now)
            }
            output.append(.answer(BatchIndex(index)), for: connection)
        case .reject(let connection, let rejection):
            reject(connection, rejection)
        case .keep(let id, let event):
            let body = output.body(of: event)
            // Of its own size: the other has grown to that of the largest.
            kept[id] = KeptEvent(
                body: Array(output.shared.bytes[output.shared.range(of: body)]),
                stanzas: output.stanzaReceivers.isEmpty ? nil : output.copyOfStanzas(of: event))
        case .deliverKept(let id, let topic, let receivers):
            guard let event = kept[id] else {
                preconditionFailure("an event that was not retained")
            }
            let (native, xmpp) = output.divide(receivers)
            let body = output.shared.add { output, _ in output += event.body }
            output.append(.deliver(seq: id.seq, body, topic), to: native, omitting: stalledLoops)
            if !xmpp.isEmpty { deliver(event, id.seq, topic, toXMPP: xmpp, at: now.wall) }
            if !stalledLoops.isEmpty { withhold(topic, id.seq, from: receivers, at: now.wall) }
        case .drop(let id):
            kept[id] = nil
        case .feed(let event, let topic):
            addToFeed(event, topic, at: now.mono)
        case .states(let connection, let range, let kind):
            output.append(.states(BatchRange(range), kind), for: connection)
        case .synced(let connection, let count):
            output.append(.synced(count: count), for: connection)
        case .caughtUp(let connection):
            output.append(.caughtUp, for: connection)
        case .expired(let type, let cause, let names, let receivers):
            push(
                .expired(type, cause, names: BatchRange(names)), to: receivers,
                byteCount: output.shared.effects.byteCount(ofNames: names))
        case .contact(let notice, let receivers):
            tell(BatchIndex(notice), to: receivers)
        case .direct(let index, let receivers):
            direct(index, to: receivers, at: now.mono)
        case .fetch(let connection, let messages):
            fetch(messages, for: connection)
        case .message(let ticket, let receivers):
            handOut(ticket, to: receivers, at: now.wall)
        case .copy(let ticket, let index, let receivers):
            sendCopy(index, of: ticket, to: receivers)
        case .persist(let ticket, let index):
            persist(output.shared.effects.records[index], ticket)
        case .close(let connection, let reason):
            output.append(.close(reason, retryAfterSeconds: nil), for: connection)
        }
    }

    private mutating func persist(_ record: Record, _ ticket: Ticket?) {
        if case .removeAccount(let account) = record { forgetCard(of: name(account)) }
        let write = write(for: record)
        if let ticket, case .putMessage(let content, _) = write {
            messagesInFlight[ticket.number] = content
        }
        submissions.append(Submission(ticket: ticket.map { StoreTicket($0.number) }, write: write))
    }

    // MARK: Stalled loops

    /// Notes that the connections of stalled loops have missed an event, as their loops
    /// would note it for clients that do not read.
    ///
    /// From then on the engine withholds events from them, so this is done once for each until it
    /// has caught up, and what waits for such a loop is bounded by its connections.
    private mutating func withhold(
        _ topic: TopicHandle, _ seq: UInt64, from receivers: Range<Int>, at now: Wall
    ) {
        for place in receivers {
            let slot = output.shared.effects.receivers[place]
            guard stalledLoops.contains(loops.loop(of: slot)),
                let connection = engine.connection(inSlot: slot)
            else { continue }
            engine.missed(topic, seq: seq, by: connection, at: now)
            output.append(.missed, for: connection)
        }
    }

    // MARK: Signs of life

    private mutating func fillInLastHeard(of entries: Range<Int>, at now: Moment) {
        for place in entries {
            let entry = output.shared.effects.sessions[place]
            output.shared.effects.sessions[place].lastHeard = lastHeard(of: entry, at: now)
        }
    }

    /// When a session was last heard.
    func lastHeard(of entry: SessionEntry, at now: Moment) -> Wall {
        guard let connection = entry.connectionID else { return entry.lastHeard }
        return now.wall(at: heardTime(of: connection))
    }

    /// When bytes of a connection last arrived.
    func heardTime(of connection: ConnectionID) -> Mono {
        heard[loops.loop(of: connection.slot)].time(loops.local(connection.slot))
    }
}
