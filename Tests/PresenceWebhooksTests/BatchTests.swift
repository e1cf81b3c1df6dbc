import NIOCore
import PresenceCore
import PresenceWire
import Testing

@testable import PresenceWebhooks

@Suite struct Batches {
    private func cursor(_ seq: UInt64) -> FeedCursor { FeedCursor(epoch: 1, seq: seq) }

    private func events(_ numbers: ClosedRange<Int>) -> FeedEvents {
        let events = numbers.map {
            #"{"type":1,"publisher":"\"type\":","value":1,"seq":\#($0),"time":\#($0 * 10)}"#
        }
        return FeedEvents(
            bytes: Array(events.joined(separator: ",").utf8), count: numbers.count,
            firstTime: Wall(milliseconds: Int64(numbers.lowerBound) * 10))
    }

    private func changes(_ numbers: ClosedRange<Int>, _ seq: UInt64) -> FeedItem {
        .changes(events(numbers), cursor(seq))
    }

    func text(_ batch: Batch?) -> String {
        batch.map { String(buffer: $0.body(id: "1")) } ?? "none"
    }

    @Test func `contain the events that arrived together`() {
        var builder = BatchBuilder(.resumed)
        #expect(!builder.hasContent)
        #expect(builder.add(changes(1...2, 2)) == nil)
        #expect(builder.add(changes(3...3, 3)) == nil)
        #expect(builder.hasContent)
        let batch = builder.take()
        #expect(batch.count == 3 && batch.firstTime == 10 && !builder.hasContent)
        let head = #"{"id":"1","cursor":"\#(cursor(3).text)","events":[{"type":1,"#
        #expect(text(batch).hasPrefix(head))
        #expect(text(batch).hasSuffix(#""seq":3,"time":30}]}"#))
        #expect(!text(builder.take()).contains("cursor"))
    }

    @Test func `are limited in size`() {
        var builder = BatchBuilder(.resumed)
        #expect(builder.add(changes(1...400, 2)) == nil)
        let first = builder.add(changes(401...600, 3))
        #expect(first?.count == 400 && first?.cursor == cursor(2).text)
        let second = builder.take()
        #expect(second.count == 200 && second.cursor == cursor(3).text && second.firstTime == 4_010)
        let bytes = Array("{\"type\":1,\"x\":\"\(String(repeating: "x", count: 200_000))\"}".utf8)
        let long = FeedEvents(bytes: bytes, count: 1, firstTime: Wall(milliseconds: 1))
        #expect(builder.add(.states(long)) == nil)
        #expect(builder.add(.states(long))?.count == 1)
    }

    @Test func `contain a reset, the states, and their end`() {
        var builder = BatchBuilder(.reset)
        #expect(!builder.hasContent)
        #expect(builder.add(.states(events(1...1))) == nil)
        #expect(
            text(builder.take()).hasPrefix(#"{"id":"1","reset":true,"snapshot":true,"events":[{"#))
        #expect(builder.add(.states(events(2...2))) == nil)
        let last = builder.add(.synced(cursor(4)))
        let head = #"{"id":"1","snapshot":true,"synced":true,"cursor":"\#(cursor(4).text)","#
        #expect(text(last).hasPrefix(head + #""events":[{"#))
        #expect(builder.add(changes(3...3, 5)) == nil)
        let next = #"{"id":"1","cursor":"\#(cursor(5).text)","events":[{"#
        #expect(text(builder.take()).hasPrefix(next))
    }

    @Test func `say that no account has a state`() {
        var builder = BatchBuilder(.reset)
        let only = builder.add(.synced(cursor(1)))
        let marks = #""reset":true,"snapshot":true,"synced":true"#
        #expect(text(only) == #"{"id":"1",\#(marks),"cursor":"\#(cursor(1).text)","events":[]}"#)
    }

    @Test func `end at a reset`() {
        var builder = BatchBuilder(.resumed)
        #expect(builder.add(changes(1...1, 2)) == nil)
        let before = builder.add(.reset)
        #expect(before?.cursor == cursor(2).text && before?.isReset == false)
        #expect(builder.add(.reset) == nil)
        #expect(builder.add(.states(events(2...2))) == nil)
        #expect(builder.take().isReset)
    }
}
