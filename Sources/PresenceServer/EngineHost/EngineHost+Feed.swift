// The feed of events, for app servers that keep a table of their own.
//
// It is on from the first reader until a set time after the last one left; while it is off, an
// event costs one branch in the engine. While it is on, the ring (`FeedLog`) retains the newest
// events. A reader is a position in it: when its socket has accepted everything, the next share is
// sent, as for login lists. So a reader is never conflated and never waited for; when the ring no
// longer contains its position, it is reset and sent a snapshot.
//
// A snapshot is walked in the order of the topics, a frame at a time. Before each frame the reader
// is sent the changes of the topics that it has passed; changes of later topics are left out, since
// their states will include them. So there is no gap between the snapshot and the stream, and
// nothing older follows something newer.

import Containers
import Outboxes
import PresenceCore
import PresenceWire

extension EngineHost {
    /// Makes a connection a feed reader.
    mutating func readFeed(
        from beginning: FeedBeginning, by connection: ConnectionID, at now: Moment
    ) throws(Rejection) {
        try checkReaderQuota(of: connection)
        let isReady = isReaderReady(connection)
        undelivered.end(connection)
        if feed == nil { beginFeed(at: now) }
        let begun = feed?.begin(connection, from: beginning, isReady: isReady, at: now.mono)
        if begun == nil { counters.feedResets += 1 }
        output.append(.feed(.began(beginning, after: begun)), for: connection)
    }

    private mutating func beginFeed(at now: Moment) {
        // The clock distinguishes this start from others that have drawn the same number.
        let epoch = retryDelay.next() ^ UInt64(bitPattern: now.wall.milliseconds)
        let log = FeedLog(
            after: engine.lastSeq, epoch: epoch, bytesMax: configuration.feed.feedBytesMax,
            seconds: configuration.feed.feedSeconds)
        resumeFeed(log, at: now.mono)
    }

    /// Switches the feed on.
    mutating func resumeFeed(_ log: FeedLog, at now: Mono) {
        feed = Feed(log, at: now)
        engine.setFeed(.on)
    }

    /// Drops what is too old, and switches the feed off when it has had no reader for as long.
    mutating func maintainFeed(at now: Mono) {
        guard feed?.check(at: now) == false else { return }
        feed = nil
        engine.setFeed(.off)
    }

    // MARK: Shares

    /// Adds an event to the ring.
    mutating func addToFeed(_ event: Int, _ topic: TopicHandle, at now: Mono) {
        let number = output.body(of: event)
        let body = output.shared.bytes[output.shared.range(of: number)]
        let event = output.shared.effects.events[event]
        let isNothingLeft = event.status == nil && event.online?.isEmpty != false
        feed?.log.append(
            body.eventOfBody, seq: event.seq, topic: isNothingLeft ? .first : topic, at: now)
    }

    /// Sends every reader that is ready what is new.
    mutating func wakeFeedReaders(at now: Moment) {
        guard let count = feed?.readers.count else { return }
        for place in 0..<count { sendFeed(toReader: place, at: now) }
    }

    /// Sends a reader its next share, if its connection has written everything.
    mutating func sendFeed(toReader place: Int, at now: Moment) {
        guard let connection = feed?.readers[place].connection else { return }
        switch feed?.step(forReader: place) {
        case .reset:
            feed?.reset(place)
            counters.feedResets += 1
            output.append(.feed(.reset), for: connection)
        case .changes: sendChanges(toReader: place, at: now)
        case .states: sendStates(toReader: place, at: now)
        case nil: break
        }
    }

    private mutating func sendChanges(toReader place: Int, at now: Moment) {
        guard let log = feed?.log, let reader = feed?.readers[place] else { return }
        var share: FeedLog.Share?
        let list = output.shared.add { [bytesMax = shareBytesMax] bytes, _ in
            share = log.append(
                after: reader.seq, listed: reader.cursor, bytesMax: bytesMax,
                countMax: configuration.feed.eventsPerFrameMax, to: &bytes)
        }
        guard let share else { return }
        feed?.sent(share, toReader: place)
        guard share.count > 0 else { return }
        let cursor =
            reader.cursor.isComplete ? FeedCursor(epoch: log.epoch, seq: share.seq) : nil
        let events = FeedShare(
            list: list, count: share.count, firstTime: share.firstTime.map { now.wall(at: $0) },
            isNewest: share.seq == log.head)
        output.append(.feed(.events(events, cursor)), for: reader.connection)
    }

    private static var stretchesPerTurn: Int { 8 }

    /// Bytes of events in a share; a single event may have more.
    private var shareBytesMax: Int {
        min(
            configuration.connection.outboxBytesMax,
            configuration.engine.limits.serverFrameBytesMax) / 2
    }

    /// The reader has had every change of the topics that its cursor covers, so the states of
    /// further ones may follow.
    private mutating func sendStates(toReader place: Int, at now: Moment) {
        guard let reader = feed?.readers[place], let epoch = feed?.log.epoch else { return }
        var cursor = reader.cursor
        // Stretches without states are passed over; many of them in the next turn.
        for _ in 0..<Self.stretchesPerTurn where output.shared.effects.items.isEmpty {
            guard !cursor.isComplete else { break }
            engine.continueSnapshot(
                &cursor, for: reader.connection, topicsMax: configuration.feed.topicsPerFrame,
                statesMax: configuration.engine.limits.statesPerFrameMax, at: now,
                into: &output.shared.effects)
        }
        feed?.cameTo(
            cursor, sendingStates: !output.shared.effects.items.isEmpty, toReader: place)
        sort(at: now)
        guard cursor.isComplete else { return }
        output.append(
            .feed(.synced(FeedCursor(epoch: epoch, seq: reader.seq))), for: reader.connection)
    }
}
