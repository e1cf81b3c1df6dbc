// Contents of messages are kept in memory until they are stored: sessions that have been sent all
// before are handed them behind the commit. For others they are read from the store when a session
// is to be sent them, and what the engine then still wants to be sent is encoded for that session.

import Connections
import Containers
import PresenceCore
import PresenceStore
import PresenceWire
import PresenceXMPP

extension EngineHost {
    /// Hands a message that is stored now to those it is the next for.
    mutating func handOut(_ ticket: Ticket, to receivers: Range<Int>, at now: Wall) {
        let message = inFlight(ticket)
        let (native, xmpp) = output.divide(receivers)
        if !native.isEmpty {
            let body = output.shared.add { bytes, _ in
                _ = bytes.appendMessagesBody([message], limits: configuration.engine.limits)
            }
            push(
                .deliverAlways(body), to: native,
                byteCount: output.shared.range(of: body).count)
        }
        if !xmpp.isEmpty {
            sendStanzas([message], delayed: isOld(message, at: now) ? [message.id] : [], to: xmpp)
        }
    }

    /// Sends a copy of a message that is stored now to sessions of its sender that keep up.
    mutating func sendCopy(_ index: Int, of ticket: Ticket, to receivers: Range<Int>) {
        let message = inFlight(ticket)
        let copy = output.shared.effects.copies[index]
        let (native, xmpp) = output.divide(receivers)
        if !xmpp.isEmpty { sendCarbons(of: message, copy, to: xmpp) }
        guard !native.isEmpty else { return }
        let body = output.shared.add { bytes, effects in
            bytes.appendSentBody(
                message, copy, in: effects, limits: configuration.engine.limits)
        }
        let missedCount = copy.missedCount + 1
        output.append(
            .copy(body, missedCount: missedCount), to: native, omitting: stalledLoops)
        guard !stalledLoops.isEmpty else { return }
        for place in native {
            let slot = output.shared.effects.receivers[place]
            guard stalledLoops.contains(loops.loop(of: slot)),
                let connection = engine.connection(inSlot: slot)
            else { continue }
            engine.missedCopies(missedCount, by: connection)
        }
    }

    /// Sends XMPP clients of the sender that keep up a copy for each recipient. What was sent by
    /// labels has no address, and what an account writes to itself all its clients are sent, unless
    /// it is for one.
    private mutating func sendCarbons(
        of message: DeliveredMessage, _ copy: MessageCopy, to receivers: Range<Int>
    ) {
        let connections = output.shared.effects.receivers[receivers]
            .compactMap { engine.connection(inSlot: $0) }
            .filter { !stalledLoops.contains(loops.loop(of: $0.slot)) }
        guard let recipients = copy.recipients, !connections.isEmpty else { return }
        let device =
            copy.device.map { Array(output.shared.effects.text($0)) }
            ?? message.stanza?.addressed ?? []
        var byteCount = 0
        for place in recipients where byteCount < Self.carbonBytesMax {
            let account = Array(output.shared.effects.text(output.shared.effects.names[place]))
            var target: ConnectionID?
            if account == message.from {
                target = engine.connection(of: account, on: device)
                guard target != nil else { continue }
            }
            let shared = output.shared.addStanzas { template, _ in
                template.appendCopy(ofSent: message, to: account, device, id: message.id.text)
            }
            byteCount += output.shared.part(of: shared).byteCount
            for connection in connections where connection != target {
                output.append(.relay(shared), for: connection)
            }
        }
    }

    /// What the copies of one message for many recipients may have, but for the last.
    private static var carbonBytesMax: Int { 256 << 10 }

    /// The message that was stored under a ticket.
    private func inFlight(_ ticket: Ticket) -> DeliveredMessage {
        guard let row = messagesInFlight[ticket.number] else {
            preconditionFailure("a message that was not in flight")
        }
        return DeliveredMessage(MessageID(number: UInt64(clamping: row.id)), row)
    }

    /// Has contents of messages read for a connection, as soon as there is room for it.
    mutating func fetch(_ messages: Range<Int>, for connection: ConnectionID) {
        messageReads.add(Array(output.shared.effects.messages[messages]), for: connection)
        beginFetches()
    }

    private mutating func beginFetches() {
        while let (connection, ids) = messageReads.next() {
            store.submit(
                .messages(ids: ids.map { Int64(clamping: $0.number) }),
                token: connection.token)
        }
    }

    /// Contents of messages have been read, or could not be.
    mutating func reportMessages(
        _ content: ReadOutcome.Content<[MessageContentRow]>, for connection: ConnectionID,
        at now: Moment
    ) {
        messageReads.end()
        switch content {
        case .success(let rows): handOut(rows, to: connection, at: now.wall)
        case .failure(let error):
            noteStoreFailure(.read, error)
            engine.fetchFailed(for: connection, at: now)
        }
        beginFetches()
    }

    private mutating func handOut(
        _ rows: [MessageContentRow], to connection: ConnectionID, at now: Wall
    ) {
        let found = rows.map { MessageID(number: UInt64(clamping: $0.id)) }
        let handed = Set(
            engine.handOut(found, to: connection, into: &output.shared.effects))
        guard !handed.isEmpty else { return }
        let messages = zip(found, rows).filter { handed.contains($0.0) }.map { id, row in
            DeliveredMessage(id, row)
        }
        guard !output.stanzaReceivers.contains(connection.slot) else {
            let delayed = messages.filter {
                engine.isLoggedIn(connection, after: $0.id) || isOld($0, at: now)
            }
            return sendStanzas(
                messages, delayed: Set(delayed.map(\.id)), to: receiver(connection))
        }
        var rest = messages[...]
        while !rest.isEmpty {
            let body = output.shared.add { bytes, _ in
                rest = bytes.appendMessagesBody(rest, limits: configuration.engine.limits)
            }
            send(body, to: connection)
        }
    }

    /// Has XMPP clients sent messages, and asked whether they have them.
    private mutating func sendStanzas(
        _ messages: [DeliveredMessage], delayed: Set<MessageID>, to receivers: Range<Int>
    ) {
        guard let last = messages.last else { return }
        let stanzas = output.shared.addStanzas { template, _ in
            for message in messages {
                template.append(
                    message, id: message.id.text, isDelayed: delayed.contains(message.id))
            }
        }
        push(
            .messages(stanzas, last: last.id), to: receivers,
            byteCount: output.shared.part(of: stanzas).byteCount)
    }

    private func isOld(_ message: DeliveredMessage, at now: Wall) -> Bool {
        now.milliseconds - message.time.milliseconds > Self.promptMilliseconds
    }

    /// A message that is younger when it is handed out is not said to be delayed.
    private static var promptMilliseconds: Int64 { 10_000 }

    /// Has a connection sent what must not be lost.
    private mutating func send(_ body: BatchIndex<Body>, to connection: ConnectionID) {
        push(
            .deliverAlways(body), to: receiver(connection),
            byteCount: output.shared.range(of: body).count)
    }

    /// A connection as the only receiver.
    private mutating func receiver(_ connection: ConnectionID) -> Range<Int> {
        let start = output.shared.effects.receivers.count
        output.shared.effects.receivers.append(connection.slot)
        return start..<start + 1
    }
}

extension ConnectionID {
    /// As the token of a read. The connection may have ended by the time of the answer: its
    /// generation tells.
    var token: UInt64 { UInt64(slot) << 32 | UInt64(generation) }

    /// The connection that a read is for.
    init(token: UInt64) {
        self.init(slot: UInt32(token >> 32), generation: UInt32(truncatingIfNeeded: token))
    }
}

extension DeliveredMessage {
    /// A message with its contents, as they are stored.
    init(_ id: MessageID, _ row: MessageContentRow) {
        self.init(
            id: id, from: row.sender, fromDevice: row.senderDevice,
            time: Wall(milliseconds: row.time), body: row.body, ext: row.ext ?? [],
            ref: row.ref ?? [])
        guard let kind = StanzaParts<[UInt8]>.Kind(rawValue: UInt8(clamping: row.kind)) else {
            return
        }
        stanza = StanzaParts(
            kind: kind, language: row.language, addressed: row.addressed, extra: row.extra)
    }
}
