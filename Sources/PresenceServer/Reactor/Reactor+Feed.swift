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

extension Reactor {
    /// Makes a connection a feed reader, from its cursor or with a snapshot.
    mutating func readFeed(
        from cursor: FeedCursor?, in slot: Int, for id: RequestID, at now: Moment
    ) throws(Refusal) {
        let limit = configuration.feed.readersMax
        let count = feed?.readers.count ?? 0
        if count >= limit, !connections[slot].state.contains(.isFeedReader) {
            throw Refusal(.feedQuota, limit: limit, count: count)
        }
        stopReadingFeed(slot)
        if feed == nil { beginFeed(at: now) }
        feed?.log.trim(at: now.mono)
        guard let log = feed?.log else { return }
        var reader = FeedReader(slot: slot, seq: log.head)
        let isKnown = cursor.map { $0.epoch == log.epoch && log.canGoOn(from: $0.seq) } ?? false
        if isKnown, let cursor {
            reader.seq = cursor.seq
        } else {
            reader.cursor = .start
            counters.feedResets += 1
        }
        feed?.readers.append(reader)
        connections[slot].state.insert(.isFeedReader)
        pool.lend(to: &connections[slot].outbox)
        connections[slot].outbox.bytes.appendFeedAnswerFrame(
            goingOnFrom: isKnown ? cursor : nil, to: id)
        settle(slot)
    }

    private mutating func beginFeed(at now: Moment) {
        // The clock distinguishes this start from others that have drawn the same number.
        let epoch = jitter.next() ^ UInt64(bitPattern: now.wall.milliseconds)
        let log = FeedLog(
            after: engine.lastSeq, epoch: epoch, bytesMax: configuration.feed.feedBytesMax,
            seconds: configuration.feed.feedSeconds)
        goOnWithFeed(log, at: now.mono)
    }

    /// Switches the feed on.
    mutating func goOnWithFeed(_ log: FeedLog, at now: Mono) {
        feed = Feed(log, at: now)
        engine.setFeed(.on)
        scheduleLookAfterFeed(at: now)
    }

    /// A connection no longer reads the feed.
    mutating func stopReadingFeed(_ slot: Int) {
        guard connections[slot].state.contains(.isFeedReader) else { return }
        connections[slot].state.remove(.isFeedReader)
        if let place = feed?.place(of: slot) { feed?.readers.swapRemove(at: place) }
        let now = now().mono
        if feed?.readers.isEmpty == true { feed?.unreadSince = now }
    }

    // MARK: Time

    /// Drops what is too old, and switches the feed off when it has had no reader for as long.
    mutating func lookAfterFeed(at now: Moment) {
        feed?.log.trim(at: now.mono)
        guard let feed else { return }
        let end = feed.unreadSince.advanced(bySeconds: configuration.feed.feedSeconds)
        if feed.readers.isEmpty, end <= now.mono {
            self.feed = nil
            engine.setFeed(.off)
        } else {
            scheduleLookAfterFeed(at: now.mono)
        }
    }

    private mutating func scheduleLookAfterFeed(at now: Mono) {
        let seconds = min(60, max(1, configuration.feed.feedSeconds / 8))
        _ = deadlines.schedule(
            ConnectionDeadline.feed.payload(0), at: now.advanced(bySeconds: seconds).milliseconds)
    }

    // MARK: Shares

    /// Sends every reader what is new, at the end of a turn that had events.
    mutating func wakeFeedReaders() {
        guard let feed, feed.wokenFor != feed.log.head else { return }
        self.feed?.wokenFor = feed.log.head
        for reader in feed.readers { markDirty(reader.slot) }
    }

    func hasMoreOfFeed(_ slot: Int) -> Bool {
        guard let feed, let place = feed.place(of: slot) else { return false }
        return feed.readers[place].seq != feed.log.head || !feed.readers[place].cursor.isComplete
    }

    /// Sends a reader its next share.
    mutating func sayMoreOfFeed(_ slot: Int, at now: Moment) {
        guard let place = feed?.place(of: slot), let reader = feed?.readers[place],
            let head = feed?.log.head, let floor = feed?.log.floor
        else { return }
        pool.lend(to: &connections[slot].outbox)
        if reader.seq < floor {
            feed?.readers[place] = FeedReader(slot: slot, seq: head, cursor: .start)
            counters.feedResets += 1
            connections[slot].outbox.bytes.appendFeedResetFrame()
        } else if reader.seq < head {
            sayChanges(to: place, slot)
        } else if !reader.cursor.isComplete {
            sayStates(to: place, slot, at: now)
        }
    }

    private mutating func sayChanges(to place: Int, _ slot: Int) {
        guard let feed else { return }
        let reader = feed.readers[place]
        let before = connections[slot].outbox.bytes.count
        let start = connections[slot].outbox.bytes.beginFeedFrame()
        let share = feed.log.append(
            after: reader.seq, listed: reader.cursor,
            bytesMax: shareBytesMax,
            countMax: configuration.feed.eventsPerFrameMax, to: &connections[slot].outbox.bytes)
        self.feed?.readers[place].seq = share.seq
        guard share.count > 0 else {
            return connections[slot].outbox.bytes.removeLast(
                connections[slot].outbox.bytes.count - before)
        }
        connections[slot].outbox.bytes.endFeedFrame(
            start,
            cursor: reader.cursor.isComplete
                ? FeedCursor(epoch: feed.log.epoch, seq: share.seq) : nil)
    }

    /// Bytes of events in a share; a single event may have more.
    private var shareBytesMax: Int {
        min(
            configuration.connection.outboxBytesMax,
            configuration.engine.limits.serverFrameBytesMax) / 2
    }

    /// The reader has had every change of the topics that its cursor covers, so the states of
    /// further ones may follow.
    private mutating func sayStates(to place: Int, _ slot: Int, at now: Moment) {
        guard let reader = feed?.readers[place] else { return }
        var cursor = reader.cursor
        engine.continueSnapshot(
            &cursor, for: ConnectionID(connections[slot].id),
            topicsMax: configuration.feed.topicsPerFrame,
            statesMax: configuration.engine.limits.statesPerFrameMax, at: now, into: &effects)
        feed?.readers[place].cursor = cursor
        carryOutItems(at: now)
        guard cursor.isComplete, let epoch = feed?.log.epoch else { return }
        connections[slot].outbox.bytes.appendFeedSyncedFrame(
            cursor: FeedCursor(epoch: epoch, seq: reader.seq))
    }

    // MARK: Counters

    /// The age of the oldest retained event.
    func feedOldestSeconds(at now: Mono) -> Int {
        feed?.log.oldest.map { $0.seconds(until: now) } ?? 0
    }

    /// The age of the oldest event that a reader has not been sent yet.
    func feedLagSeconds(at now: Mono) -> Int {
        guard let feed else { return 0 }
        return feed.readers.compactMap { feed.log.time(after: max($0.seq, feed.log.floor)) }
            .map { $0.seconds(until: now) }.max() ?? 0
    }
}

extension Mono {
    /// Whole seconds until a later time; 0 until an earlier one.
    fileprivate func seconds(until later: Mono) -> Int {
        Int((later.milliseconds - min(later.milliseconds, milliseconds)) / 1_000)
    }
}

extension Array {
    /// Removes an element and puts the last in its place. O(1).
    fileprivate mutating func swapRemove(at place: Int) {
        swapAt(place, count - 1)
        removeLast()
    }
}
