// Contents of messages are not kept in memory: they are read from the store when a session is to
// be sent them, and what the engine then still wants to be sent is encoded once for that session.

import Connections
import Containers
import PresenceCore
import PresenceStore
import PresenceWire
import PresenceXMPP

extension EngineHost {
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
            return sendStanzas(messages, to: connection, at: now)
        }
        var rest = messages[...]
        while !rest.isEmpty {
            let body = output.shared.add { bytes, _ in
                rest = bytes.appendMessagesBody(rest, limits: configuration.engine.limits)
            }
            send(body, to: connection)
        }
    }

    /// Has an XMPP client sent messages, and asked whether it has them.
    private mutating func sendStanzas(
        _ messages: [DeliveredMessage], to connection: ConnectionID, at now: Wall
    ) {
        guard let last = messages.last else { return }
        let stanzas = output.shared.addStanzas { template, _ in
            for message in messages {
                let isDelayed =
                    engine.isLoggedIn(connection, after: message.id)
                    || now.milliseconds - message.time.milliseconds > Self.promptMilliseconds
                template.append(message, id: message.id.text, isDelayed: isDelayed)
            }
        }
        push(
            .messages(stanzas, last: last.id), to: receiver(connection),
            byteCount: output.shared.part(of: stanzas).byteCount)
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
