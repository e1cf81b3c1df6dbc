import PresenceWire
import Testing

@testable import PresenceCore

@Suite struct EventEncodingTests {
    private let head = #"{"jsonrpc":"2.0","method":"events","params":{"events":["#

    @Test func `an event with all it may have`() {
        var fixture = Fixture()
        var event = fixture.event("bob")
        event.value = 10_001
        event.cause = .publish
        event.seq = 42
        event.time = Wall(milliseconds: 1_763_700_000_000)
        event.online = fixture.devices([(.ios, "d1", .connection), (.web, "tab-7", .push)])
        event.origin = fixture.effects.devices[0]
        event.ext = fixture.text("in a meeting")
        event.status = StatusEntry(
            value: 10_001, ext: event.ext, expires: Wall(milliseconds: 1_763_703_600_000))
        event.lastSeen = Wall(milliseconds: 1_763_699_990_000)
        let text = body { $0.appendEventBody(event, in: fixture.effects) }
        let expected =
            #"{"type":1,"publisher":"bob","value":10001,"cause":"publish","id":"000000000001A","#
            + #""seq":42,"time":1763700000000,"client":"ios","device":"d1","#
            + #""ext":"in a meeting","online":[{"client":"ios","device":"d1"},"#
            + #"{"client":"web","device":"tab-7","push":true}],"status":{"value":10001,"#
            + #""ext":"in a meeting","expires":1763703600000},"lastSeen":1763699990000}"#
        #expect(text == head + expected + "]}}")
    }

    @Test func `an event with the least`() {
        var fixture = Fixture()
        let event = fixture.event("x", type: 65_535)
        let text = body { $0.appendEventBody(event, in: fixture.effects) }
        let expected =
            #"{"type":65535,"publisher":"x","value":0,"cause":"sync","id":"0000000000000","#
            + #""seq":0,"time":0}"#
        #expect(text == head + expected + "]}}")
    }

    @Test func `numbers at their bounds`() {
        var fixture = Fixture()
        var event = fixture.event("x")
        event.value = .min
        event.seq = .max
        event.time = Wall(milliseconds: .min)
        event.online = 0..<0
        event.status = StatusEntry(value: .max, ext: nil, expires: Wall(milliseconds: .max))
        let text = body { $0.appendEventBody(event, in: fixture.effects) }
        let expected =
            #"{"type":1,"publisher":"x","value":-2147483648,"cause":"sync","id":"FZZZZZZZZZZZZ","#
            + #""seq":18446744073709551615,"time":-9223372036854775808,"online":[],"#
            + #""status":{"value":2147483647,"expires":9223372036854775807}}"#
        #expect(text == head + expected + "]}}")
    }

    @Test func `every number of digits`() {
        var fixture = Fixture()
        var value: UInt64 = 1
        while true {
            for seq in [value - 1, value, value + 1] {
                var event = fixture.event("x")
                event.seq = seq
                let text = body { $0.appendEventBody(event, in: fixture.effects) }
                #expect(text?.contains("\"seq\":\(seq),") == true, "\(seq)")
            }
            let (next, overflow) = value.multipliedReportingOverflow(by: 10)
            if overflow { break }
            value = next
        }
    }

    @Test func `texts are escaped as little as JSON allows`() {
        var fixture = Fixture()
        let event = fixture.event(
            "\"\\/\u{08}\u{09}\u{0A}\u{0C}\u{0D}\0\u{1F}\u{7F}é😀\u{2028}\u{FEFF}")
        let text = body { $0.appendEventBody(event, in: fixture.effects) }
        let name = #"\"\\/\b\t\n\f\r\u0000\u001f"# + "\u{7F}é😀\u{2028}\u{FEFF}"
        #expect(text?.contains("\"publisher\":\"\(name)\",") == true)
    }

    @Test func `every cause and client has its word`() {
        let words = Cause.allCases.map(\.word.description)
        #expect(
            words == [
                "login", "logout", "disconnect", "publish", "cleared", "expired", "kicked",
                "restart", "sync", "changed", "hidden", "shown",
            ])
        #expect(
            ClientKind.allCases.map(\.word.description) == [
                "android", "ios", "harmony", "windows", "macos", "linux", "web", "server",
                "other", "xmpp",
            ])
    }

    @Test func `a body goes behind what is in the buffer`() {
        var fixture = Fixture()
        let event = fixture.event("x")
        var bytes: [UInt8] = []
        bytes.appendEventBody(event, in: fixture.effects)
        let one = bytes
        bytes.appendEventBody(event, in: fixture.effects)
        #expect(bytes == one + one)
    }

    @Test(arguments: [(0, []), (1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])])
    func `a list is split by the number of states`(count: Int, sizes: [Int]) {
        var fixture = Fixture()
        fixture.effects.events = (0..<count).map { fixture.event("n\($0)") }
        for list in [EventList.changes, .loginList] {
            let all = bodies(of: 0..<count) {
                $0.appendEventsBody($1, of: list, in: fixture.effects, limits: Limits())
            }
            #expect(all.map { $0.split(separator: #"{"type""#).count - 1 } == sizes)
            let end = list == .loginList ? #"}],"sync":true}}"# : "}]}}"
            #expect(all.allSatisfy { $0.hasPrefix(head + "{") && $0.hasSuffix(end) })
        }
    }

    @Test func `a list is split by the bytes of a body`() {
        var fixture = Fixture()
        fixture.effects.events = (0..<40).map { fixture.event("name \($0)") }
        var limits = Limits()
        let whole = body {
            let rest = $0.appendEventsBody(
                0..<40, of: .loginList, in: fixture.effects, limits: limits)
            #expect(rest.isEmpty)
        }
        for bytesMax in 300...1_500 {
            limits.serverFrameBytesMax = bytesMax
            let parts = bodies(of: 0..<40) {
                $0.appendEventsBody($1, of: .loginList, in: fixture.effects, limits: limits)
            }
            #expect(parts.allSatisfy { $0.utf8.count <= bytesMax })
            let events = parts.map { $0.dropFirst(head.count).dropLast(#"],"sync":true}}"#.count) }
            let all = head + events.joined(separator: ",") + #"],"sync":true}}"#
            #expect(all == whole)
            #expect(parts.count <= 40 * 120 / (bytesMax - 180) + 1)
        }
    }
}
