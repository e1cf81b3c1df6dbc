import NIOCore
import Testing

@testable import PresenceWebhooks

@Suite struct Batches {
    func message(_ json: String) throws -> FeedMessage {
        try #require(FeedMessage(ByteBuffer(string: json)))
    }

    func changes(_ numbers: ClosedRange<Int>, _ end: String) throws -> FeedMessage {
        let events = numbers.map {
            #"{"type":1,"publisher":"\"type\":","value":1,"seq":\#($0),"time":\#($0 * 10)}"#
        }
        return try message("{\"events\":[\(events.joined(separator: ","))],\(end)}")
    }

    func text(_ batch: Batch?) -> String {
        batch.map { String(buffer: $0.body(id: "1")) } ?? "none"
    }

    @Test func `contain the events that arrived together`() throws {
        var builder = BatchBuilder(try message(#"{"reset":false,"cursor":"A"}"#))
        #expect(!builder.hasContent)
        #expect(builder.add(try changes(1...2, #""cursor":"B""#)) == nil)
        #expect(builder.add(try changes(3...3, #""cursor":"C""#)) == nil)
        #expect(builder.hasContent)
        let batch = builder.take()
        #expect(batch.count == 3 && batch.firstTime == 10 && !builder.hasContent)
        #expect(text(batch).hasPrefix(#"{"id":"1","cursor":"C","events":[{"type":1,"#))
        #expect(text(batch).hasSuffix(#""seq":3,"time":30}]}"#))
        #expect(!text(builder.take()).contains("cursor"))
    }

    @Test func `are limited in size`() throws {
        var builder = BatchBuilder(try message(#"{"reset":false,"cursor":"A"}"#))
        #expect(builder.add(try changes(1...400, #""cursor":"B""#)) == nil)
        let first = builder.add(try changes(401...600, #""cursor":"C""#))
        #expect(first?.count == 400 && first?.cursor == "B")
        let second = builder.take()
        #expect(second.count == 200 && second.cursor == "C" && second.firstTime == 4_010)
        let long = "{\"events\":[{\"type\":1,\"x\":\"\(String(repeating: "x", count: 200_000))\"}]}"
        #expect(builder.add(try message(long)) == nil)
        #expect(builder.add(try message(long))?.count == 1)
    }

    @Test func `contain a reset, the states, and their end`() throws {
        var builder = BatchBuilder(try message(#"{"reset":true}"#))
        #expect(!builder.hasContent)
        #expect(builder.add(try changes(1...1, #""snapshot":true"#)) == nil)
        #expect(
            text(builder.take()).hasPrefix(#"{"id":"1","reset":true,"snapshot":true,"events":[{"#))
        #expect(builder.add(try changes(2...2, #""snapshot":true"#)) == nil)
        let last = builder.add(try message(#"{"synced":true,"cursor":"D"}"#))
        #expect(
            text(last).hasPrefix(
                #"{"id":"1","snapshot":true,"synced":true,"cursor":"D","events":[{"#))
        #expect(builder.add(try changes(3...3, #""cursor":"E""#)) == nil)
        #expect(text(builder.take()).hasPrefix(#"{"id":"1","cursor":"E","events":[{"#))
    }

    @Test func `say that no account has a state`() throws {
        var builder = BatchBuilder(try message(#"{"reset":true}"#))
        let only = builder.add(try message(#"{"synced":true,"cursor":"A"}"#))
        let marks = #""reset":true,"snapshot":true,"synced":true"#
        #expect(text(only) == #"{"id":"1",\#(marks),"cursor":"A","events":[]}"#)
    }

    @Test func `end at a reset`() throws {
        var builder = BatchBuilder(try message(#"{"reset":false,"cursor":"A"}"#))
        #expect(builder.add(try changes(1...1, #""cursor":"B""#)) == nil)
        let before = builder.add(try message(#"{"reset":true}"#))
        #expect(before?.cursor == "B" && before?.isReset == false)
        #expect(builder.add(try message(#"{"reset":true}"#)) == nil)
        #expect(builder.add(try changes(2...2, #""snapshot":true"#)) == nil)
        #expect(builder.take().isReset)
    }

    @Test(arguments: ["", "[]", "{", #"{"events":5}"#, #"{"events":[1}"#])
    func `are not made from invalid messages`(json: String) {
        #expect(FeedMessage(ByteBuffer(string: json)) == nil)
    }
}
