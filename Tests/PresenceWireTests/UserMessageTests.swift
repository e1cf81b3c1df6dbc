import Foundation
import PresenceWire
import Testing

@testable import PresenceCore

/// Messages of accounts: their requests, their results, and how they are delivered.
@Suite struct UserMessageTests {
    private func send(_ members: String, limits: Limits = Limits()) -> Decoded {
        Decoded.params("send", #"{"accounts":["lisi"],\#(members)}"#, limits: limits)
    }

    @Test func `a message with all it may say`() {
        let decoded = Decoded.params(
            "send",
            #"{"account":"zs","accounts":["lisi"],"device":"d 1","body":"\u0000今\ud83d\ude00\n","#
                + #""ext":"{\"a\":1}","ref":"m1","expiry":60}"#)
        guard case .command(.send(let account, let send)) = decoded.method else {
            Issue.record("\(decoded.result)")
            return
        }
        #expect(decoded.string(account) == "zs")
        #expect(decoded.names == ["lisi"])
        guard case .device(let device, _) = send.recipients else {
            Issue.record("\(send.recipients)")
            return
        }
        #expect(decoded.string(device) == "d 1")
        #expect(decoded.string(send.body) == "\0今😀\n")
        #expect(decoded.string(send.ext) == #"{"a":1}"#)
        #expect(decoded.string(send.ref) == "m1")
        #expect(send.expirySeconds == 60)
    }

    @Test func `a message with the least`() {
        let decoded = Decoded.params("send", #"{"accounts":["b","a","\u0062"],"body":"x"}"#)
        guard case .command(.send(nil, let send)) = decoded.method else {
            Issue.record("\(decoded.result)")
            return
        }
        #expect(decoded.names == ["b", "a"])
        #expect(send.recipients == .accounts(NameList(start: 0, count: 2)))
        #expect(send.ext == nil && send.ref == nil)
        #expect(send.expirySeconds == 604_800)
    }

    @Test(arguments: [
        (#"["a"]"#, true), (#"["a","a"]"#, true), (#"["a","b"]"#, false),
    ])
    func `a device belongs to one account`(accounts: String, isGood: Bool) {
        let decoded = Decoded.params(
            "send", #"{"accounts":\#(accounts),"device":"d","body":"x"}"#)
        #expect(decoded.rejection == (isGood ? nil : Rejection(.outOfRange, field: .device)))
    }

    @Test(arguments: [59, 60, 2_592_000, 2_592_001, -60, 0])
    func `bounds of the time for which it waits`(seconds: Int) {
        let isGood = (60...2_592_000).contains(seconds)
        let rejection = Rejection(.outOfRange, field: .expiry, min: 60, max: 2_592_000)
        #expect(
            send(#""body":"x","expiry":\#(seconds)"#).rejection == (isGood ? nil : rejection))
    }

    @Test(arguments: [0, 1, 64, 65])
    func `bounds of the sender's own id`(count: Int) {
        let ref = String(repeating: "\\u0000", count: count)
        let rejection: Rejection? =
            switch count {
            case 0: Rejection(.outOfRange, field: .ref, min: 1, max: 64)
            case 65: Rejection(.tooLong, field: .ref, limit: 64, count: 65)
            default: nil
            }
        #expect(send(#""body":"x","ref":"\#(ref)""#).rejection == rejection)
    }

    @Test(arguments: [
        (0, 0), (0, 10), (1, 0), (1, 131_071), (131_072, 0), (131_073, 0), (131_072, 1),
        (1, 131_072), (70_000, 61_073),
    ])
    func `one limit for the text and that of the app`(body: Int, ext: Int) {
        let rejection: Rejection? =
            if body == 0 {
                Rejection(.outOfRange, field: .body, min: 1, max: 131_072)
            } else if body + ext > 131_072 {
                Rejection(.tooLong, field: .body, limit: 131_072, count: body + ext)
            } else {
                nil
            }
        let texts = [body, ext].map { String(repeating: "x", count: $0) }
        #expect(send(#""body":"\#(texts[0])","ext":"\#(texts[1])""#).rejection == rejection)
    }

    @Test func `an escape counts as the bytes it stands for`() {
        var limits = Limits()
        limits.messageBytesMax = 4
        #expect(send(#""body":"\u00e9\"\n""#, limits: limits).rejection == nil)
        #expect(
            send(#""body":"\u00e9\"\n","ext":"x""#, limits: limits).rejection
                == Rejection(.tooLong, field: .body, limit: 4, count: 5))
    }

    @Test func `the id of a message comes back as it was sent`() {
        for number in [0, 1, 180, UInt64.max] {
            let text = body {
                _ = $0.appendMessagesBody([delivered(number)], limits: Limits())
            }
            let id = text?.split(separator: #""id":""#).last?.prefix(13) ?? ""
            let method = Decoded.params("take", #"{"id":"\#(id)"}"#).method
            #expect(method == .command(.take(MessageID(number: number))))
        }
    }

    private func delivered(_ number: UInt64) -> DeliveredMessage {
        DeliveredMessage(
            id: MessageID(number: number), time: Wall(milliseconds: 0), body: Array("x".utf8))
    }

    @Test func `messages are delivered with what they have`() {
        let whole = DeliveredMessage(
            id: MessageID(number: 180), from: Array("zs".utf8), fromDevice: Array("d\"".utf8),
            time: Wall(milliseconds: 1_763_700_000_000), body: Array("\0今\u{7F}\n\\".utf8),
            ext: Array(#"{"a":1}"#.utf8), ref: Array("m1".utf8))
        let text = body { _ = $0.appendMessagesBody([whole, delivered(181)], limits: Limits()) }
        let json =
            #"{"jsonrpc":"2.0","method":"messages","params":{"messages":[{"id":"000000000005M","#
            + #""from":"zs","fromDevice":"d\"","time":1763700000000,"#
            + #""body":"\u0000今"# + "\u{7F}" + #"\n\\","ext":"{\"a\":1}","ref":"m1"},"#
            + #"{"id":"000000000005N","time":0,"body":"x"}]}}"#
        #expect(text == json)
        #expect(body { _ = $0.appendMessagesBody([], limits: Limits()) } == nil)
    }

    @Test func `copies say whom a message was for`() {
        var effects = Effects()
        for name in ["li", "w\""] {
            effects.names.append(
                ByteRange(start: Int32(effects.bytes.count), count: Int32(name.utf8.count)))
            effects.bytes += Array(name.utf8)
        }
        var message = delivered(180)
        message.from = Array("zs".utf8)
        message.fromDevice = Array("phone".utf8)
        message.ref = Array("m1".utf8)
        func text(_ copy: MessageCopy, bytesMax: Int = 1_000) -> String? {
            var limits = Limits()
            limits.serverFrameBytesMax = bytesMax
            return body { $0.appendSentBody(message, copy, in: effects, limits: limits) }
        }
        let start = #"{"jsonrpc":"2.0","method":"sent","params":{"sent":[{"id":"000000000005M""#
        let rest = #","fromDevice":"phone","time":0,"body":"x","ref":"m1"}]"#
        let copy = MessageCopy(recipients: 0..<2, device: nil, missedCount: 0)
        #expect(text(copy) == start + #","to":["li","w\""]"# + rest + "}}")
        #expect(text(copy, bytesMax: 140) == start + rest + "}}", "too long with the recipients")
        let toDevice = MessageCopy(
            recipients: 0..<1, device: ByteRange(start: 0, count: 2), missedCount: 3)
        #expect(
            text(toDevice) == start + #","to":["li"],"device":"li""# + rest + #","missed":3}}"#)
    }

    @Test func `more messages than a frame holds are split`() throws {
        let all = (0..<20).map { delivered($0) }
        let whole = body { _ = $0.appendMessagesBody(all[...], limits: Limits()) } ?? ""
        for bound in 0...whole.utf8.count {
            var limits = Limits()
            limits.serverFrameBytesMax = bound
            var rest = all[...]
            var ids: [Any] = []
            while !rest.isEmpty {
                let before = rest.count
                var bytes: [UInt8] = []
                rest = bytes.appendMessagesBody(rest, limits: limits)
                #expect(bytes.count <= bound || before - rest.count == 1)
                let object = try JSONSerialization.jsonObject(with: Data(bytes))
                let params = (object as? [String: Any])?["params"] as? [String: Any]
                let messages = try #require(params?["messages"] as? [[String: Any]])
                #expect(messages.count == before - rest.count)
                ids += messages.compactMap { $0["id"] }
            }
            #expect(ids.count == 20)
        }
    }

    @Test func `the longest message fits a frame, however it is escaped`() {
        let limits = Limits()
        let name = [UInt8](repeating: 0x22, count: limits.accountBytesMax)
        let message = DeliveredMessage(
            id: MessageID(number: .max), from: name, fromDevice: name,
            time: Wall(milliseconds: .max),
            body: [UInt8](repeating: 0, count: limits.messageBytesMax),
            ref: [UInt8](repeating: 0, count: limits.refBytesMax))
        var bytes: [UInt8] = []
        #expect(bytes.appendMessagesBody([message], limits: limits).isEmpty)
        #expect(bytes.count <= limits.serverFrameBytesMax)
    }

    @Test(
        arguments: [
            (
                .sent(
                    Sent(
                        message: MessageID(number: 180), time: Wall(milliseconds: 1),
                        expires: Wall(milliseconds: 60_001), recipients: 2, reached: nil)),
                #"{"id":"000000000005M","time":1,"expires":60001,"recipients":2}"#
            ),
            (
                .sent(
                    Sent(
                        message: MessageID(number: 180), time: Wall(milliseconds: 1),
                        expires: Wall(milliseconds: 60_001), recipients: 2, reached: 0)),
                #"{"id":"000000000005M","time":1,"expires":60001,"recipients":2,"reached":0}"#
            ),
            (
                .sent(
                    Sent(
                        message: MessageID(number: 180), time: Wall(milliseconds: 1),
                        expires: Wall(milliseconds: 60_001), recipients: 2, reached: 1,
                        passedOver: 3)),
                #"{"id":"000000000005M","time":1,"expires":60001,"recipients":2,"reached":1,"#
                    + #""passedOver":3}"#
            ),
            (.taken(waiting: 0), #"{"waiting":0}"#),
            (.discarded(3, hasMore: nil), #"{"discarded":3}"#),
            (.discarded(1_000, hasMore: true), #"{"discarded":1000,"more":true}"#),
            (.discarded(0, hasMore: false), #"{"discarded":0,"more":false}"#),
        ] as [(Answer, String)])
    func `results`(answer: Answer, json: String) {
        let text = body {
            _ = $0.appendAnswerBody(
                answer, to: .integer(1), in: Effects(), settings: Settings())
        }
        #expect(text == #"{"jsonrpc":"2.0","id":1,"result":\#(json)}"#)
    }

    @Test(
        arguments: [
            (
                .notPermitted, nil, 403,
                "The accounts in `failed` accept messages only from their contacts."
            ),
            (
                .inboxFull, 100, 419,
                "There is no room for the message at the accounts in `failed`; 100 messages may "
                    + "wait for each: three quarters of accounts, and half of accounts unrelated "
                    + "to it, which share it."
            ),
        ] as [(Rejection.Reason, Int?, Int, String)])
    func `recipients are rejected by name`(
        reason: Rejection.Reason, limit: Int?, code: Int, message: String
    ) {
        var fixture = Fixture()
        fixture.effects.names = ["zed", "bob", "\"x\""].map { fixture.text($0) }
        var rejection = Rejection(reason, field: .accounts, limit: limit)
        rejection.failed = 1..<3
        let text = body {
            $0.appendErrorBody(rejection, to: .integer(1), in: fixture.effects)
        }
        let word = reason.rawValue
        let data = limit.map { #","limit":\#($0)"# } ?? ""
        #expect(
            text == #"{"jsonrpc":"2.0","id":1,"error":{"code":\#(code),"message":"\#(message)","#
                + #""data":{"reason":"\#(word)","field":"accounts"\#(data),"failed":"#
                + #"[{"account":"bob","reason":"\#(word)"},"#
                + #"{"account":"\"x\"","reason":"\#(word)"}]}}}"#)
    }
}
