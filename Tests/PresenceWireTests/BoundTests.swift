import Containers
import PresenceWire
import Testing

@testable import PresenceCore

@Suite struct BoundTests {
    @Test(arguments: [
        RefusedCase("login", "{}", Refusal(.missingField, field: .token)),
        RefusedCase("login", #"{"client":"ios"}"#, Refusal(.missingField, field: .token)),
        RefusedCase("login", #"{"token":"t"}"#, Refusal(.missingField, field: .device)),
        RefusedCase("login", #"{"account":"a"}"#, Refusal(.missingField, field: .device)),
        RefusedCase(
            "login", #"{"account":"a","client":"server"}"#, Refusal(.missingField, field: .device)),
        RefusedCase(
            "login", #"{"token":"t","account":"a","device":"d"}"#,
            Refusal(.duplicateField, field: .account)),
        RefusedCase("login", #"{"token":"t","key":"k"}"#, Refusal(.duplicateField, field: .key)),
        RefusedCase(
            "login", #"{"key":"k","client":"toaster"}"#, Refusal(.outOfRange, field: .client)),
        RefusedCase(
            "login", #"{"key":"k","client":"IOS"}"#, Refusal(.outOfRange, field: .client)),
        RefusedCase("login", #"{"key":"k","sync":"some"}"#, Refusal(.outOfRange, field: .sync)),
        RefusedCase("login", #"{"key":"k","sync":true}"#, Refusal(.wrongType, field: .sync)),
        RefusedCase("subscribe", "{}", Refusal(.missingField, field: .type)),
        RefusedCase("subscribe", #"{"type":1}"#, Refusal(.missingField, field: .expiry)),
        RefusedCase(
            "subscribe", #"{"type":1,"expiry":60}"#, Refusal(.missingField, field: .publishers)),
        RefusedCase("unsubscribe", "{}", Refusal(.missingField, field: .type)),
        RefusedCase("publish", "{}", Refusal(.missingField, field: .type)),
        RefusedCase("publish", #"{"type":1}"#, Refusal(.missingField, field: .value)),
        RefusedCase("clear", "{}", Refusal(.missingField, field: .type)),
        RefusedCase("query", "{}", Refusal(.missingField, field: .type)),
        RefusedCase("query", #"{"type":1}"#, Refusal(.missingField, field: .accounts)),
        RefusedCase("subscribers", "{}", Refusal(.missingField, field: .type)),
        RefusedCase("subscribers", #"{"type":1}"#, Refusal(.missingField, field: .publisher)),
        RefusedCase("sessions", "{}", Refusal(.missingField, field: .account)),
        RefusedCase("kick", "{}", Refusal(.missingField, field: .account)),
        RefusedCase("send", "{}", Refusal(.missingField, field: .accounts)),
        RefusedCase("send", #"{"accounts":["a"]}"#, Refusal(.missingField, field: .body)),
        RefusedCase("take", "{}", Refusal(.missingField, field: .id)),
        RefusedCase("discard", "{}", Refusal(.missingField, field: .account)),
    ])
    func `what is missing or does not go together`(refused: RefusedCase) {
        #expect(Decoded.params(refused.method, refused.params).refusal == refused.refusal)
    }

    @Test(
        arguments: [
            ("type", [1, 100, 65_535], [-1, 0, 2, 99, 65_536], 100, 65_535),
            ("expiry", [60, 2_592_000], [-60, 0, 59, 2_592_001], 60, 2_592_000),
        ] as [(String, [Int], [Int], Int, Int)])
    func `bounds of a subscription`(
        field: String, good: [Int], bad: [Int], min: Int, max: Int
    ) {
        let rest = field == "type" ? #""expiry":60"# : #""type":1"#
        for value in good + bad {
            let decoded = Decoded.params(
                "subscribe", #"{"publishers":["a"],\#(rest),"\#(field)":\#(value)}"#)
            let refusal = Refusal(
                .outOfRange, field: Refusal.Field(rawValue: field), min: min, max: max)
            #expect(decoded.refusal == (bad.contains(value) ? refusal : nil))
        }
    }

    @Test(arguments: [
        (59, false), (60, true), (604_800, true), (604_801, false), (0, false),
    ])
    func `bounds of a status's life`(seconds: Int, isGood: Bool) {
        let decoded = Decoded.params("publish", #"{"type":1,"value":10000,"expiry":\#(seconds)}"#)
        let refusal = Refusal(.outOfRange, field: .expiry, min: 60, max: 604_800)
        #expect(decoded.refusal == (isGood ? nil : refusal))
    }

    @Test(
        arguments: [
            (-1, .outOfRange), (0, .outOfRange), (1, .reservedValue), (9_999, .reservedValue),
            (10_000, nil), (2_147_483_647, nil), (2_147_483_648, .outOfRange),
        ] as [(Int, Refusal.Reason?)])
    func `bounds of a value`(value: Int, reason: Refusal.Reason?) {
        let decoded = Decoded.params("publish", #"{"type":1,"value":\#(value)}"#)
        let refusal = reason.map {
            Refusal($0, field: .value, min: 10_000, max: 2_147_483_647)
        }
        #expect(decoded.refusal == refusal)
    }

    @Test(arguments: [(0, false), (1, true), (1_000, true), (1_001, false)])
    func `bounds of a page`(limit: Int, isGood: Bool) {
        let decoded = Decoded.params("subscriptions", #"{"limit":\#(limit)}"#)
        let refusal = Refusal(.outOfRange, field: .limit, min: 1, max: 1_000)
        #expect(decoded.refusal == (isGood ? nil : refusal))
    }

    @Test(arguments: [
        "", "0", "000000000000", "00000000000000", "G000000000000", "000000000000U",
        "000000000000a",
        "00000000000 0", "-000000000001", "000000000000é",
    ])
    func `cursors that nobody gave`(cursor: String) {
        let decoded = Decoded.params("subscriptions", #"{"cursor":"\#(cursor)"}"#)
        #expect(decoded.refusal == Refusal(.outOfRange, field: .cursor))
        let message = Decoded.params("take", #"{"id":"\#(cursor)"}"#)
        #expect(message.refusal == Refusal(.outOfRange, field: .id))
    }

    @Test(arguments: [
        ("publish", #""type":1,"value":10000"#, Refusal.Field.ext, 4_096),
        ("kick", #""account":"a""#, .reason, 256),
    ])
    func `bounds of a text`(method: String, rest: String, field: Refusal.Field, limit: Int) {
        let key = field.rawValue
        // An escape counts as the bytes it stands for.
        let text = String(repeating: "\\u00e9", count: limit / 2)
        #expect(Decoded.params(method, "{\(rest),\"\(key)\":\"\(text)\"}").method != nil)
        #expect(Decoded.params(method, "{\(rest),\"\(key)\":\"\"}").method != nil)
        let refusal = Refusal(.tooLong, field: field, limit: limit, count: limit + 1)
        #expect(Decoded.params(method, "{\(rest),\"\(key)\":\"\(text)x\"}").refusal == refusal)
    }

    @Test(arguments: Slot.lists)
    func `bounds of a list`(slot: Slot) {
        let most = slot.method == "query" ? 500 : 100
        let many = (0..<most).map { "\"n\($0)\"" }
        func decode(_ names: [String]) -> Decoded {
            slot.decode("[\(names.joined(separator: ","))]")
        }
        #expect(decode([]).refusal == Refusal(.outOfRange, field: slot.field, min: 1, max: most))
        #expect(decode(many).names.count == most)
        #expect(decode(many + [#""n0""#]).names == (0..<most).map { "n\($0)" })
        let tooMany = Refusal(.tooMany, field: slot.field, limit: most)
        #expect(decode(many + [#""other""#]).refusal == tooMany)
        let repeats = [String](repeating: #""again""#, count: 5_000)
        #expect(decode(repeats).names == ["again"])
        let long = Refusal(.tooLong, field: slot.field, limit: 128, count: 129)
        #expect(decode(["\"\(String(repeating: "x", count: 129))\""]).refusal == long)
        let invalid = Refusal(.invalidName, field: slot.field, limit: 128)
        #expect(decode([#""a""#, #""""#]).refusal == invalid)
    }

    @Test func `limits of the service's own choice`() {
        var limits = Limits()
        limits.publishersPerRequestMax = 2
        limits.accountBytesMax = 3
        limits.subscriptionExpirySecondsMax = 61
        func refusal(_ expiry: Int, _ names: String) -> Refusal? {
            Decoded.params(
                "subscribe", #"{"type":1,"expiry":\#(expiry),"publishers":[\#(names)]}"#,
                limits: limits
            ).refusal
        }
        #expect(refusal(61, #""abc","b""#) == nil)
        #expect(refusal(62, #""a""#) == Refusal(.outOfRange, field: .expiry, min: 60, max: 61))
        #expect(refusal(60, #""a","b","c""#) == Refusal(.tooMany, field: .publishers, limit: 2))
        let long = Refusal(.tooLong, field: .publishers, limit: 3, count: 4)
        #expect(refusal(60, #""abcd""#) == long)
    }

    @Test func `a list without repeats is what a set says`() {
        var generator = SplitMix64(seed: 5)
        for _ in 0..<300 {
            let kinds = Int.random(in: 1...120, using: &generator)
            let names = (0..<Int.random(in: 1...300, using: &generator)).map { _ in
                "n\(Int.random(in: 0..<kinds, using: &generator))"
            }
            var seen = Set<String>()
            let expected = names.filter { seen.insert($0).inserted }
            let json = names.map { "\"\($0)\"" }.joined(separator: ",")
            let decoded = Decoded.params("unsubscribe", #"{"type":1,"publishers":[\#(json)]}"#)
            if expected.count > 100 {
                #expect(decoded.refusal?.reason == .tooMany)
            } else {
                #expect(decoded.names == expected)
            }
        }
    }
}
