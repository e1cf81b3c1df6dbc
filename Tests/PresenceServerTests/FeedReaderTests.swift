import PresenceCore
import PresenceWire
import Testing

@testable import PresenceServer

/// The readers of the feed, and how long it is on.
@Suite struct `Readers of the feed` {
    var feed = Feed(
        FeedLog(after: 100, epoch: 7, bytesMax: 1_000, seconds: 80), at: Mono(milliseconds: 0))

    func connection(_ slot: UInt32) -> ConnectionID { ConnectionID(slot: slot, generation: 1) }

    func time(_ seconds: UInt64) -> Mono { Mono(milliseconds: seconds * 1_000) }

    mutating func begin(_ slot: UInt32, _ cursor: FeedCursor? = nil) -> Bool {
        let isReady = feed.place(of: connection(slot)).map { feed.readers[$0].isReady } ?? false
        let beginning = cursor.map { FeedBeginning.after($0) } ?? .snapshot
        let begun = feed.begin(connection(slot), from: beginning, isReady: isReady, at: time(0))
        #expect(begun == nil || begun == cursor)
        return begun != nil
    }

    mutating func happen(_ count: Int, at seconds: UInt64 = 0) {
        for _ in 0..<count {
            feed.log.append(
                Array("an event".utf8)[...], seq: feed.log.head + 1, topic: TopicHandle(index: 1),
                at: time(seconds))
        }
    }

    @Test mutating func `go on after a cursor of this ring, and else begin with a snapshot`() {
        happen(2)
        let cursors: [(FeedCursor?, Bool)] = [
            (FeedCursor(epoch: 7, seq: 100), true), (FeedCursor(epoch: 7, seq: 102), true),
            (FeedCursor(epoch: 7, seq: 99), false), (FeedCursor(epoch: 7, seq: 103), false),
            (FeedCursor(epoch: 8, seq: 101), false), (nil, false),
        ]
        for (slot, (cursor, goesOn)) in cursors.enumerated() {
            let began = begin(UInt32(slot), cursor)
            #expect(began == goesOn, "\(String(describing: cursor))")
            #expect(feed.readers[slot].cursor.isComplete == goesOn)
            #expect(feed.readers[slot].seq == (goesOn ? cursor?.seq : 102))
        }
    }

    @Test mutating func `begin now, behind what has happened`() {
        happen(2)
        let begun = feed.begin(connection(1), from: .now, isReady: true, at: time(0))
        #expect(begun == FeedCursor(epoch: 7, seq: 102))
        #expect(feed.readers[0].cursor.isComplete && feed.step(forReader: 0) == nil)
        happen(1)
        #expect(feed.step(forReader: 0) == .changes && feed.readers[0].seq == 102)
    }

    @Test mutating func `are sent something when they have written everything, and it is new`() {
        _ = begin(1, FeedCursor(epoch: 7, seq: 100))
        #expect(feed.step(forReader: 0) == nil)
        feed.drained(0)
        #expect(feed.step(forReader: 0) == nil && !feed.hasMoreForReadyReaders)
        happen(2)
        #expect(feed.step(forReader: 0) == .changes && feed.hasMoreForReadyReaders)
        // Nothing of it is for this reader: it is as ready as before.
        feed.sent(FeedLog.Share(seq: 101, count: 0), toReader: 0)
        #expect(feed.step(forReader: 0) == .changes)
        feed.sent(FeedLog.Share(seq: 102, count: 1), toReader: 0)
        #expect(feed.step(forReader: 0) == nil)
    }

    @Test mutating func `have a snapshot, which waits for the changes of what it has passed`() {
        _ = begin(1)
        feed.drained(0)
        #expect(feed.step(forReader: 0) == .states)
        feed.cameTo(.before(TopicHandle(index: 5)), sendingStates: false, toReader: 0)
        #expect(feed.step(forReader: 0) == .states)
        feed.cameTo(.before(TopicHandle(index: 9)), sendingStates: true, toReader: 0)
        #expect(feed.step(forReader: 0) == nil)
        feed.drained(0)
        happen(1)
        #expect(feed.step(forReader: 0) == .changes)
        feed.sent(FeedLog.Share(seq: 101, count: 1), toReader: 0)
        feed.drained(0)
        feed.cameTo(.complete, sendingStates: false, toReader: 0)
        feed.drained(0)
        #expect(feed.step(forReader: 0) == nil)
    }

    @Test mutating func `are reset when the ring has left out what they were not sent`() {
        _ = begin(1, FeedCursor(epoch: 7, seq: 100))
        feed.drained(0)
        happen(100)
        #expect(feed.step(forReader: 0) == .reset)
        feed.reset(0)
        #expect(feed.step(forReader: 0) == nil)
        feed.drained(0)
        #expect(feed.step(forReader: 0) == .states)
    }

    @Test mutating func `that begin again are as ready as they were`() {
        _ = begin(1)
        feed.drained(0)
        _ = begin(2)
        _ = begin(1)
        #expect(feed.readers.map(\.connection) == [connection(2), connection(1)])
        #expect(feed.readers.map(\.isReady) == [false, true])
    }

    @Test mutating func `keep the feed on, and for as long as it goes back after the last`() {
        #expect(feed.checkAt == time(10))
        _ = begin(1)
        let withReader = feed.check(at: time(200))
        #expect(withReader && feed.checkAt == time(210))
        feed.end(connection(2), at: time(205))
        feed.end(connection(1), at: time(206))
        let justAfter = feed.check(at: time(285))
        #expect(justAfter)
        let later = feed.check(at: time(286))
        #expect(!later)
    }

    @Test mutating func `lag behind by the age of what they were not sent`() {
        happen(1, at: 10)
        happen(1, at: 20)
        #expect(feed.oldestSeconds(at: time(30)) == 20 && feed.lagSeconds(at: time(30)) == 0)
        _ = begin(1, FeedCursor(epoch: 7, seq: 101))
        #expect(feed.lagSeconds(at: time(30)) == 10)
    }
}
