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
        var frame: [UInt8] = []
        frame.appendEventFrame(fixture.effects.events[0], in: fixture.effects)
        var bytes: [UInt8] = [9]
        let start = bytes.beginFeedFrame()
        bytes.append(contentsOf: frame[...].eventOfFrame)
        bytes.endFeedFrame(start, cursor: cursor)
        let event = String(decoding: frame[...].eventOfFrame, as: UTF8.self)
        #expect(event.hasPrefix(#"{"type":1,"publisher":"bob\""#) && event.hasSuffix("}"))
        #expect(
            bodies(Array(bytes.dropFirst())) == [
                head + #""events":["# + event + #"],"cursor":""# + text + #""}}"#
            ])
    }

    @Test func `states and changes among them have no cursor`() {
        var fixture = Fixture()
        fixture.effects.events = (0..<3).map { fixture.event("n\($0)") }
        var bytes: [UInt8] = []
        bytes.appendEventFrames(0..<3, of: .feedList, in: fixture.effects, limits: Limits())
        bytes.endFeedFrame(bytes.beginFeedFrame(), cursor: nil)
        let frames = bodies(bytes) ?? []
        #expect(frames.count == 2 && frames.allSatisfy { $0.hasPrefix(head + #""events":["#) })
        #expect(frames.allSatisfy { $0.hasSuffix(#"],"snapshot":true}}"#) })
    }

    @Test func `the other notifications and the answers`() {
        #expect(frame { $0.appendFeedResetFrame() } == head + #""reset":true}}"#)
        #expect(
            frame { $0.appendFeedSyncedFrame(cursor: cursor) }
                == head + #""synced":true,"cursor":""# + text + #""}}"#)
        let result = #"{"jsonrpc":"2.0","id":1,"result":{"reset":"#
        #expect(
            frame { $0.appendFeedAnswerFrame(goingOnFrom: nil, to: .integer(1)) }
                == result + "true}}")
        #expect(
            frame { $0.appendFeedAnswerFrame(goingOnFrom: cursor, to: .integer(1)) }
                == result + #"false,"cursor":""# + text + #""}}"#)
        var bytes: [UInt8] = []
        bytes.appendFeedAnswerFrame(goingOnFrom: cursor, to: .none)
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
