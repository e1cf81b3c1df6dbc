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
        #expect(request?.method == .feed(isKnown ? .after(cursor) : .snapshot))
    }

    @Test(
        arguments: [
            (#"{"from":"now"}"#, nil), (#"{"from":"then"}"#, .outOfRange),
            (#"{"from":""}"#, .outOfRange), (#"{"from":1}"#, .wrongType),
            (#"{"from":"now","cursor":""}"#, .duplicateField),
            (#"{"from":"now","from":"now"}"#, .duplicateField),
        ] as [(String, Rejection.Reason?)])
    func `a reader may begin now, without a cursor`(params: String, reason: Rejection.Reason?) {
        var decoder = RequestDecoder()
        let body = Array(#"{"jsonrpc":"2.0","id":1,"method":"feed","params":\#(params)}"#.utf8)
        switch decoder.decode(body.span.bytes) {
        case .success(let request):
            #expect(reason == nil && request.method == .feed(.now))
        case .failure(let error):
            #expect(error.cause == reason.map { .rejected(Rejection($0, field: .from)) })
        }
    }
}

@Suite struct `An item of the feed` {
    private let cursor = FeedCursor(epoch: .max, seq: 42)
    private let events = FeedEvents(
        bytes: Array(#"{"a":1},{"b":2}"#.utf8), count: 2, firstTime: Wall(milliseconds: 0))

    private func notification(_ item: FeedItem) -> String {
        let params = String(decoding: item.params, as: UTF8.self)
        return #"{"jsonrpc":"2.0","method":"feed","params":\#(params)}"#
    }

    @Test func `has the parameters of the notification`() {
        #expect(notification(.reset) == body { $0.appendFeedResetBody() })
        #expect(notification(.synced(cursor)) == body { $0.appendFeedSyncedBody(cursor: cursor) })
        #expect(
            notification(.changes(events, cursor))
                == body { $0.appendFeedEventsBody(events.bytes[...], cursor: cursor) })
        #expect(
            notification(.states(events))
                == body { $0.appendFeedEventsBody(events.bytes[...], cursor: nil) })
        #expect(cursor.text == "FZZZZZZZZZZZZ000000000001A")
    }

    @Test func `has as many states as a notification holds`() {
        var fixture = Fixture()
        fixture.effects.events = (0..<3).map { fixture.event("n\($0)") }
        var limits = Limits()
        limits.statesPerFrameMax = 2
        var bytes: [UInt8] = []
        let rest = bytes.appendFeedStates(0..<3, in: fixture.effects, limits: limits)
        #expect(rest == 2..<3)
        let whole = body {
            _ = $0.appendEventsBody(0..<3, of: .feedList, in: fixture.effects, limits: limits)
        }
        let states = FeedEvents(bytes: bytes, count: 2, firstTime: Wall(milliseconds: 0))
        #expect(notification(.states(states)) == whole)
    }
}

@Suite struct `The content of an error` {
    @Test(arguments: [
        Rejection(.forbidden), Rejection(.outOfRange, field: .type, min: 1, max: 5),
        Rejection(.feedQuota, limit: 3, count: 3), Rejection(.rateLimited, retryAfterSeconds: 7),
    ])
    func `is that of the response`(rejection: Rejection) {
        let content = ErrorContent(rejection, in: Effects())
        let members = String(decoding: content.members, as: UTF8.self)
        #expect(
            body { $0.appendErrorBody(rejection, to: .integer(1), in: Effects()) }
                == #"{"jsonrpc":"2.0","id":1,"error":{"code":\#(content.code),"message":""#
                + #"\#(content.message)","data":{"reason":"\#(content.reason)"\#(members)}}}"#)
        #expect(content.retryAfterSeconds == rejection.retryAfterSeconds)
    }
}
