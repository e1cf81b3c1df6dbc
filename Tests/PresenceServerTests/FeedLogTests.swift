import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `The ring of the feed` {
    func log(bytesMax: Int = 1 << 20, seconds: Int = 60) -> FeedLog {
        FeedLog(after: 100, epoch: 7, bytesMax: bytesMax, seconds: seconds)
    }

    /// Adds events 101, 103, 105 … of ten bytes, each a second after the one before.
    func fill(_ log: inout FeedLog, _ count: Int) {
        for number in 0..<count {
            log.append(
                Array("event \(String(number).padding(4))".utf8)[...],
                seq: log.head + (log.count == 0 ? 1 : 2), topic: TopicHandle(index: UInt32(number)),
                at: Mono(milliseconds: 1_000 * UInt64(number)))
        }
    }

    func read(
        _ log: FeedLog, after seq: UInt64, listed cursor: ListCursor = .complete,
        bytesMax: Int = .max >> 1,
        countMax: Int = .max
    ) -> (text: String, seq: UInt64) {
        var output: [UInt8] = []
        let share = log.append(
            after: seq, listed: cursor, bytesMax: bytesMax, countMax: countMax,
            to: &output)
        return (String(decoding: output, as: UTF8.self), share.seq)
    }

    @Test func `gives what is behind a place, in order`() {
        var log = log()
        #expect(read(log, after: 100).text == "")
        fill(&log, 3)
        #expect(log.count == 3 && log.head == 105 && log.floor == 100)
        let all = read(log, after: 100)
        #expect(all.text == "event 0   ,event 1   ,event 2   " && all.seq == 105)
        #expect(read(log, after: 101).text == "event 1   ,event 2   ")
        #expect(read(log, after: 102).text == "event 1   ,event 2   ")
        #expect(read(log, after: 104).text == "event 2   ")
        #expect(read(log, after: 105).text == "")
        #expect(log.count(after: 101) == 2 && log.count(after: 105) == 0)
    }

    @Test func `gives no more than it is asked for, but always something`() {
        var log = log()
        fill(&log, 5)
        #expect(read(log, after: 100, bytesMax: 1).text == "event 0   ")
        #expect(read(log, after: 100, countMax: 2).text == "event 0   ,event 1   ")
        #expect(read(log, after: 100, countMax: 2).seq == 103)
        let some = read(log, after: 100, listed: .before(TopicHandle(index: 2)))
        #expect(some.text == "event 0   ,event 1   " && some.seq == 109)
        #expect(read(log, after: 103, listed: .before(TopicHandle(index: 2))).seq == 109)
    }

    @Test func `leaves out what the bound on bytes does not allow`() {
        let entry = 10 + FeedLog.entryBytes
        var log = log(bytesMax: 20 * entry)
        fill(&log, 1_000)
        #expect(log.count == 20 && log.bytes == 20 * entry)
        #expect(log.floor == 101 + 2 * 979 && log.head == 101 + 2 * 999)
        #expect(log.canGoOn(from: log.floor) && log.canGoOn(from: log.head))
        #expect(!log.canGoOn(from: log.floor - 1) && !log.canGoOn(from: log.head + 1))
        #expect(read(log, after: log.floor).text.hasPrefix("event 980 "))
        #expect(log.segments.reduce(0) { $0 + $1.entries.count } < 200, "memory is given back")
        #expect(log.count(after: log.floor) == 20)
    }

    @Test func `leaves out what is too old`() {
        var log = log(seconds: 60)
        fill(&log, 100)
        log.trim(at: Mono(milliseconds: 99_000))
        #expect(log.oldest == Mono(milliseconds: 39_000) && log.count == 61)
        #expect(log.time(after: log.floor) == Mono(milliseconds: 39_000))
        log.trim(at: Mono(milliseconds: 1_000_000))
        #expect(log.count == 0 && log.bytes == 0 && log.floor == log.head && log.oldest == nil)
        #expect(log.canGoOn(from: log.head))
        fill(&log, 1)
        #expect(log.count == 1)
    }

    @Test func `holds nothing that is larger than itself`() {
        var log = log(bytesMax: 100)
        fill(&log, 1)
        log.append(
            Array(repeating: 0, count: 200)[...], seq: 999, topic: TopicHandle(index: 0),
            at: Mono(milliseconds: 0))
        #expect(log.count == 0 && log.bytes == 0 && log.floor == 999)
    }
}

@Suite struct `The feed over a restart` {
    func moment(_ mono: UInt64, _ wall: Int64) -> Moment {
        Moment(mono: Mono(milliseconds: mono), wall: Wall(milliseconds: wall))
    }

    func kept(_ count: Int) -> [UInt8] {
        var log = FeedLog(after: 100, epoch: 7, bytesMax: 3_000, seconds: 60)
        for number in 0..<count {
            log.append(
                Array("event \(number)".utf8)[...], seq: 101 + UInt64(number),
                topic: TopicHandle(index: 9), at: Mono(milliseconds: 1_000 * UInt64(number)))
        }
        return log.encoded(stamp: 5, at: moment(100_000, 1_000_000))
    }

    func restored(
        _ bytes: [UInt8], stamp: UInt64 = 5, wall: Int64 = 1_000_000
    ) throws(FeedLogError) -> FeedLog? {
        try FeedLog(
            bytes, stamp: stamp, bytesMax: 3_000, seconds: 60, at: moment(500_000, wall))
    }

    @Test func `is what it was, but for its age`() throws {
        let log = try #require(try restored(kept(100), wall: 1_005_000))
        #expect(log.epoch == 7 && log.head == 200)
        #expect(log.oldest == Mono(milliseconds: 440_000), "what is too old meanwhile is left out")
        #expect(log.count == 55 && log.floor == 145)
        var output: [UInt8] = []
        let share = log.append(
            after: 198, listed: .complete, bytesMax: 1_000, countMax: 9, to: &output)
        #expect(share.seq == 200 && String(decoding: output, as: UTF8.self) == "event 98,event 99")
        let empty = try #require(try restored(kept(0)))
        #expect(empty.floor == 100 && empty.head == 100 && empty.epoch == 7)
    }

    @Test func `is not that of another database, nor too old`() throws {
        #expect(try restored(kept(5), stamp: 6) == nil)
        #expect(try restored(kept(5), wall: 1_061_000) == nil)
        #expect(try restored(kept(100), wall: 0)?.head == 200, "a clock that was set back")
    }

    @Test func `is rejected when a byte is another, or missing`() throws {
        let good = kept(5)
        for place in good.indices {
            var bad = good
            bad[place] ^= 0x10
            #expect(throws: FeedLogError.self) { try restored(bad) }
            #expect(throws: FeedLogError.self) { try restored(Array(good[..<place])) }
        }
        #expect(throws: FeedLogError.self) { try restored(good + [0]) }
    }
}

extension String {
    fileprivate func padding(_ count: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, count - self.count))
    }
}
