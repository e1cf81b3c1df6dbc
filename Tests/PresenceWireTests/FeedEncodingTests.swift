import PresenceWire
import Testing

@testable import PresenceCore

@Suite struct FeedEncodingTests {
    private let head = #"{"jsonrpc":"2.0","method":"feed","params":{"#
    private let cursor = FeedCursor(epoch: .max, seq: 42)
    private let text = "FZZZZZZZZZZZZ000000000001A"

    @Test func `an event is the same in the feed as for its watchers`() {
        var fixture = Fixture()
        fixture.effects.events = [fixture.event("bob\""), fixture.event("carol")]
        var forSubscribers: [UInt8] = []
        forSubscribers.appendEventBody(fixture.effects.events[0], in: fixture.effects)
        let bytes = forSubscribers[...].eventOfBody
        let event = String(decoding: bytes, as: UTF8.self)
        #expect(event.hasPrefix(#"{"type":1,"publisher":"bob\""#) && event.hasSuffix("}"))
        #expect(
            body { $0.appendFeedEventsBody(bytes, cursor: cursor) }
                == head + #""events":["# + event + #"],"cursor":""# + text + #""}}"#)
    }

    @Test func `states and changes among them have no cursor`() {
        var fixture = Fixture()
        fixture.effects.events = (0..<3).map { fixture.event("n\($0)") }
        var all = bodies(of: 0..<3) {
            $0.appendEventsBody($1, of: .feedList, in: fixture.effects, limits: Limits())
        }
        all.append(body { $0.appendFeedEventsBody([], cursor: nil) } ?? "")
        #expect(all.count == 2 && all.allSatisfy { $0.hasPrefix(head + #""events":["#) })
        #expect(all.allSatisfy { $0.hasSuffix(#"],"snapshot":true}}"#) })
    }

    @Test func `the other notifications and the answers`() {
        #expect(body { $0.appendFeedResetBody() } == head + #""reset":true}}"#)
        #expect(
            body { $0.appendFeedSyncedBody(cursor: cursor) }
                == head + #""synced":true,"cursor":""# + text + #""}}"#)
        let result = #"{"jsonrpc":"2.0","id":1,"result":{"reset":"#
        #expect(
            body { $0.appendFeedAnswerBody(goingOnFrom: nil, to: .integer(1)) }
                == result + "true}}")
        #expect(
            body { $0.appendFeedAnswerBody(goingOnFrom: cursor, to: .integer(1)) }
                == result + #"false,"cursor":""# + text + #""}}"#)
        var bytes: [UInt8] = []
        bytes.appendFeedAnswerBody(goingOnFrom: cursor, to: .none)
        #expect(bytes.isEmpty)
    }

    @Test(arguments: [
        (#"{"cursor":"FZZZZZZZZZZZZ000000000001A"}"#, true),
        (#"{"cursor":"000000000001A"}"#, false), (#"{"cursor":""}"#, false), ("{}", false),
        (#"{"cursor":"FZZZZZZZZZZZZ000000000001a"}"#, false),
        (#"{"cursor":"ZZZZZZZZZZZZZ000000000001A"}"#, false),
    ])
    func `a cursor comes back as it was, or is none of ours`(params: String, isKnown: Bool) {
        var decoder = RequestDecoder()
        let body = Array(#"{"jsonrpc":"2.0","id":1,"method":"feed","params":\#(params)}"#.utf8)
        let request = try? decoder.decode(body.span.bytes).get()
        #expect(request?.method == .feed(isKnown ? cursor : nil))
    }
}
