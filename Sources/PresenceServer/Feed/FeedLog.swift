// The ring behind the feed: the newest events, encoded, in the order of their `seq`.
//
// It is limited in bytes and in time, and exists only while the feed has readers or had one
// recently. A reader is a position in it, the `seq` of the last event that was sent; so a slow one
// uses no memory, and is reset when the ring no longer contains its position.
//
// Events follow each other in segments. Old events are dropped one by one from the front; memory is
// freed a segment at a time.
//
//     floor ······ head          cursors from `floor` to `head` are valid
//      │ e₁ e₂ … eₙ │            `floor` is the `seq` of the last event that was left out

import Containers
import PresenceCore

/// The newest events, in order, within bounds.
struct FeedLog {
    /// An event in a segment.
    struct Entry {
        var seq: UInt64
        /// When it happened.
        var time: Mono
        /// Its topic; valid while the engine that made it lives. The first one if the publisher has
        /// nothing left: a snapshot that has not come to the topic would list nothing, and may have
        /// listed the publisher by an earlier topic. Every snapshot that has listed anything has
        /// passed the first one.
        var topic: TopicHandle
        /// Where its bytes end; they begin at the end of the previous entry.
        var end: UInt32
    }

    struct Segment {
        var bytes: [UInt8] = []
        var entries: [Entry] = []

        /// The range of an entry's bytes.
        func range(of place: Int) -> Range<Int> {
            let start = place == 0 ? 0 : Int(entries[place - 1].end)
            return start..<Int(entries[place].end)
        }
    }

    /// The bytes that an entry counts for, besides those of its event.
    static let entryBytes = MemoryLayout<Entry>.stride

    /// Distinguishes the cursors of this ring from those of any other ring of any service.
    let epoch: UInt64
    let bytesMax: Int
    let milliseconds: UInt64
    private let segmentBytes: Int

    /// The oldest first; none is empty.
    private(set) var segments: [Segment] = []
    /// How many entries of the first segment have been dropped.
    private(set) var passed = 0
    /// A reader that has had everything up to here can continue.
    private(set) var floor: UInt64
    /// The `seq` of the newest event.
    private(set) var head: UInt64
    /// Bytes of events and their entries.
    private(set) var bytes = 0
    /// How many events there are.
    private(set) var count = 0

    /// An empty ring that continues after `seq`.
    init(after seq: UInt64, epoch: UInt64, bytesMax: Int, seconds: Int) {
        floor = seq
        head = seq
        self.epoch = epoch
        self.bytesMax = bytesMax
        milliseconds = UInt64(max(0, seconds)) * 1_000
        segmentBytes = min(1 << 18, max(1 << 10, bytesMax / 16))
    }

    /// Whether a reader that has had everything up to `seq` can continue.
    func canGoOn(from seq: UInt64) -> Bool { floor <= seq && seq <= head }

    /// When the oldest event happened.
    var oldest: Mono? { segments.first.map { $0.entries[passed].time } }

    /// When the first event after `seq` happened; nil if there is none.
    func time(after seq: UInt64) -> Mono? {
        place(after: seq).map { segments[$0.segment].entries[$0.entry].time }
    }

    /// Adds an event. Amortised O(1), and a copy of its bytes.
    mutating func append(
        _ event: ArraySlice<UInt8>, seq: UInt64, topic: TopicHandle, at time: Mono
    ) {
        precondition(seq > head, "events are appended in the order of seq")
        let isFull = segments.last.map { $0.bytes.count + event.count > segmentBytes } ?? true
        if isFull { addSegment(for: event.count) }
        let last = segments.count - 1
        segments[last].bytes.append(contentsOf: event)
        segments[last].entries.append(
            Entry(
                seq: seq, time: time, topic: topic,
                end: UInt32(segments[last].bytes.count)))
        head = seq
        count += 1
        bytes += event.count + Self.entryBytes
        while bytes > bytesMax { leaveOutOldest() }
    }

    private mutating func addSegment(for eventBytes: Int) {
        segments.append(Segment())
        segments[segments.count - 1].bytes.reserveCapacity(max(segmentBytes, eventBytes))
    }

    /// Drops what is too old.
    mutating func trim(at now: Mono) {
        while let oldest, oldest.advanced(byMilliseconds: milliseconds) < now { leaveOutOldest() }
    }

    private mutating func leaveOutOldest() {
        let range = segments[0].range(of: passed)
        floor = segments[0].entries[passed].seq
        bytes -= range.count + Self.entryBytes
        count -= 1
        passed += 1
        if passed == segments[0].entries.count {
            segments.removeFirst()
            passed = 0
        }
    }
}

extension TopicHandle {
    /// The topic that lists begin with.
    static let first = TopicHandle(index: 0)
}

// MARK: - Reading

extension FeedLog {
    /// What a reader is sent next.
    struct Share {
        /// The reader has had everything up to here.
        var seq: UInt64
        /// How many events were appended.
        var count = 0
        /// When the first of them happened.
        var firstTime: Mono?
    }

    /// Appends events after `seq` with commas between them, of topics that `cursor` covers, until
    /// `bytesMax` is reached or there are `countMax`; at least one, if there is one.
    func append(
        after seq: UInt64, listed cursor: ListCursor, bytesMax: Int, countMax: Int,
        to output: inout [UInt8]
    ) -> Share {
        var share = Share(seq: seq)
        guard let first = place(after: seq) else { return Share(seq: head) }
        let end = output.count + bytesMax
        var entry = first.entry
        for number in first.segment..<segments.count {
            while entry < segments[number].entries.count {
                let record = segments[number].entries[entry]
                let range = segments[number].range(of: entry)
                entry += 1
                guard cursor.covers(record.topic) else {
                    share.seq = record.seq
                    continue
                }
                let isFull = output.count + range.count >= end || share.count == countMax
                if isFull, share.count > 0 { return share }
                if share.count > 0 { output.append(UInt8(ascii: ",")) }
                output.append(contentsOf: segments[number].bytes[range])
                share.count += 1
                if share.firstTime == nil { share.firstTime = record.time }
                share.seq = record.seq
            }
            entry = 0
        }
        return share
    }

    /// How many events follow `seq`. O(log n + segments).
    func count(after seq: UInt64) -> Int {
        guard let first = place(after: seq) else { return 0 }
        return segments[first.segment...].reduce(-first.entry) { $0 + $1.entries.count }
    }

    /// The place of the first event after `seq`. O(log n).
    private func place(after seq: UInt64) -> (segment: Int, entry: Int)? {
        guard seq < head else { return nil }
        let segment = segments.partitionPoint { ($0.entries.last?.seq ?? 0) <= seq }
        guard segment < segments.count else { return nil }
        let entry = segments[segment].entries.partitionPoint { $0.seq <= seq }
        return (segment, segment == 0 ? max(entry, passed) : entry)
    }
}
