// What is undelivered, for app servers that push it. A reader whose socket has accepted everything
// is sent the next share: the engine says which messages, the store has their contents, and what
// was taken meanwhile is left out.

import Connections
import Containers
import PresenceCore
import PresenceStore
import PresenceWire

extension EngineHost {
    /// The most bytes of contents that are read for a share.
    private static var bytesPerShareMax: Int { 1 << 20 }

    /// Makes a connection a reader of what is undelivered, in place of the feed.
    mutating func readUndelivered(
        from cursor: FeedCursor?, by connection: ConnectionID, at now: Moment
    ) throws(Rejection) {
        try checkReaderQuota(of: connection)
        let isReady = isReaderReady(connection)
        feed?.end(connection, at: now.mono)
        let begun = undelivered.begin(
            connection, after: cursor, isReady: isReady, last: engine.lastSeq)
        output.append(.feed(.beganUndelivered(begun)), for: connection)
    }

    /// Rejects another connection that reads the feed or what is undelivered, if there are enough.
    /// Those with keys that may only read get half of the places: the others are for app servers.
    /// Readers in this process have bounds of their own.
    func checkReaderQuota(of connection: ConnectionID) throws(Rejection) {
        guard !connection.isInProcess, !isReader(connection) else { return }
        let limit = configuration.feed.readersMax
        let others =
            ((feed?.readers.map(\.connection) ?? []) + undelivered.readers.map(\.connection))
            .filter { !$0.isInProcess }
        guard others.count < limit else {
            throw Rejection(.feedQuota, limit: limit, count: others.count)
        }
        guard engine.mayOnlyRead(connection) else { return }
        let reading = others.count { engine.mayOnlyRead($0) }
        guard reading < limit / 2 else {
            throw Rejection(.feedQuota, limit: limit / 2, count: reading)
        }
    }

    /// Whether the connection of a reader has written everything. It says so once for each share.
    func isReaderReady(_ connection: ConnectionID) -> Bool {
        if let feed, let place = feed.place(of: connection) { return feed.readers[place].isReady }
        return undelivered.place(of: connection).map { undelivered.readers[$0].isReady } ?? false
    }

    private func isReader(_ connection: ConnectionID) -> Bool {
        feed?.place(of: connection) != nil || undelivered.place(of: connection) != nil
    }

    /// Has every reader that is ready sent what is new.
    mutating func wakeUndeliveredReaders(at now: Moment) {
        for place in undelivered.readers.indices { readUndelivered(toReader: place, at: now) }
    }

    /// Whether readers that are ready wait for something that can be read now.
    func isUndeliveredDue(at now: Mono) -> Bool {
        undelivered.readers.indices.contains {
            undelivered.isDue($0, upTo: engine.lastHandOver, at: now)
        }
    }

    /// Has the contents of a reader's next share read.
    mutating func readUndelivered(toReader place: Int, at now: Moment) {
        guard undelivered.isDue(place, upTo: engine.lastHandOver, at: now.mono) else { return }
        let share = engine.undelivered(
            after: undelivered.readers[place].number,
            countMax: configuration.feed.undeliveredPerFrameMax, bytesMax: Self.bytesPerShareMax,
            at: now.mono)
        guard !share.messages.isEmpty else {
            return undelivered.pass(place, upTo: share.upTo)
        }
        let number = undelivered.read(share, for: place)
        // A message may be in it for several recipients.
        let ids = Set(share.messages.map { Int64(clamping: $0.message.number) })
        store.submit(.undelivered(ids: ids.sorted()), token: number)
    }

    /// Contents of a share have been read, or could not be.
    mutating func reportUndelivered(
        _ content: ReadOutcome.Content<[MessageContentRow]>, of number: UInt64, at now: Moment
    ) {
        switch content {
        case .success(let rows):
            guard let (place, share) = undelivered.endRead(number) else { return }
            send(share, with: rows, toReader: place, at: now)
        case .failure(let error):
            noteStoreFailure(.read, error)
            guard undelivered.endRead(number) != nil else { return }
            undelivered.pause(until: now.mono.advanced(bySeconds: 1))
        }
    }

    private mutating func send(
        _ share: UndeliveredShare, with rows: [MessageContentRow], toReader place: Int,
        at now: Moment
    ) {
        var contents: [MessageID: DeliveredMessage] = [:]
        for row in rows {
            let id = MessageID(number: UInt64(clamping: row.id))
            contents[id] = DeliveredMessage(id, row)
        }
        // The position behind the last text that is encoded.
        var upTo = share.upTo
        var entries: [UndeliveredEntry] = []
        var firstTime: Wall?
        var encoded: [UInt8] = []
        for message in share.messages {
            guard let content = contents[message.message],
                let entry = entry(of: message, content, at: now)
            else { continue }
            encoded.appendUndelivered(entry, isFirst: entries.isEmpty)
            entries.append(entry)
            firstTime = firstTime ?? content.time
            if encoded.count >= configuration.feed.undeliveredBytesPerFrameMax {
                upTo = entry.number
                break
            }
        }
        guard !entries.isEmpty else { return undelivered.pass(place, upTo: share.upTo) }
        let list = output.shared.add { bytes, _ in bytes.append(contentsOf: encoded) }
        undelivered.sent(upTo: upTo, to: place)
        let reader = undelivered.readers[place].connection
        let sent = FeedShare(
            list: list, count: entries.count, firstTime: firstTime,
            undelivered: reader.isInProcess ? entries : [])
        output.append(
            .feed(.undelivered(sent, FeedCursor(epoch: undelivered.identity, seq: upTo))),
            for: reader)
    }

    /// A message as a reader is sent it; nil: it waits no longer.
    private func entry(
        of message: UndeliveredMessage, _ content: DeliveredMessage, at now: Moment
    ) -> UndeliveredEntry? {
        guard let waiting = engine.waitingCount(beside: message, at: now.mono) else { return nil }
        return UndeliveredEntry(
            number: message.handOver.number, message: content,
            textBytesMax: configuration.engine.undeliveredBytesMax,
            account: engine.name(of: message.account),
            reason: message.handOver.reason, expires: now.wall(at: message.expires),
            waiting: waiting, devices: engine.pushDevices(of: message))
    }
}
