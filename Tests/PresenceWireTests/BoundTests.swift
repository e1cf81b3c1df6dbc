import Containers
import PresenceWire
import Testing

@testable import PresenceCore

@Suite struct BoundTests {
    @Test(arguments: [
        RejectedCase("login", "{}", Rejection(.missingField, field: .token)),
        RejectedCase("login", #"{"client":"ios"}"#, Rejection(.missingField, field: .token)),
        RejectedCase("login", #"{"token":"t"}"#, Rejection(.missingField, field: .device)),
        RejectedCase("login", #"{"account":"a"}"#, Rejection(.missingField, field: .device)),
        RejectedCase(
            "login", #"{"account":"a","client":"server"}"#, Rejection(.missingField, field: .device)
        ),
        RejectedCase(
            "login", #"{"token":"t","account":"a","device":"d"}"#,
            Rejection(.duplicateField, field: .account)),
        RejectedCase("login", #"{"token":"t","key":"k"}"#, Rejection(.duplicateField, field: .key)),
        RejectedCase(
            "login", #"{"key":"k","client":"toaster"}"#, Rejection(.outOfRange, field: .client)),
        RejectedCase(
            "login", #"{"key":"k","client":"IOS"}"#, Rejection(.outOfRange, field: .client)),
        RejectedCase("login", #"{"key":"k","sync":"some"}"#, Rejection(.outOfRange, field: .sync)),
        RejectedCase("login", #"{"key":"k","sync":true}"#, Rejection(.wrongType, field: .sync)),
        RejectedCase("subscribe", "{}", Rejection(.missingField, field: .type)),
        RejectedCase("subscribe", #"{"type":1}"#, Rejection(.missingField, field: .expiry)),
        RejectedCase(
            "subscribe", #"{"type":1,"expiry":60}"#, Rejection(.missingField, field: .publishers)),
        RejectedCase("unsubscribe", "{}", Rejection(.missingField, field: .type)),
        RejectedCase("publish", "{}", Rejection(.missingField, field: .type)),
        RejectedCase("publish", #"{"type":1}"#, Rejection(.missingField, field: .value)),
        RejectedCase("clear", "{}", Rejection(.missingField, field: .type)),
        RejectedCase("query", "{}", Rejection(.missingField, field: .type)),
        RejectedCase("query", #"{"type":1}"#, Rejection(.missingField, field: .accounts)),
        RejectedCase("subscribers", "{}", Rejection(.missingField, field: .type)),
        RejectedCase("subscribers", #"{"type":1}"#, Rejection(.missingField, field: .publisher)),
        RejectedCase("sessions", "{}", Rejection(.missingField, field: .account)),
        RejectedCase("kick", "{}", Rejection(.missingField, field: .account)),
        RejectedCase("send", "{}", Rejection(.missingField, field: .accounts)),
        RejectedCase("send", #"{"accounts":["a"]}"#, Rejection(.missingField, field: .body)),
        RejectedCase("take", "{}", Rejection(.missingField, field: .id)),
        RejectedCase("discard", "{}", Rejection(.missingField, field: .account)),
    ])
    func `what is missing or does not go together`(rejected: RejectedCase) {
        #expect(Decoded.params(rejected.method, rejected.params).rejection == rejected.rejection)
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
            let rejection = Rejection(
                .outOfRange, field: Rejection.Field(rawValue: field), min: min, max: max)
            #expect(decoded.rejection == (bad.contains(value) ? rejection : nil))
        }
    }

    @Test(arguments: [
        (59, false), (60, true), (604_800, true), (604_801, false), (0, false),
    ])
    func `bounds of a status's life`(seconds: Int, isGood: Bool) {
        let decoded = Decoded.params("publish", #"{"type":1,"value":10000,"expiry":\#(seconds)}"#)
        let rejection = Rejection(.outOfRange, field: .expiry, min: 60, max: 604_800)
        #expect(decoded.rejection == (isGood ? nil : rejection))
    }

    @Test(
        arguments: [
            (-1, .outOfRange), (0, .outOfRange), (1, .reservedValue), (9_999, .reservedValue),
            (10_000, nil), (2_147_483_647, nil), (2_147_483_648, .outOfRange),
        ] as [(Int, Rejection.Reason?)])
    func `bounds of a value`(value: Int, reason: Rejection.Reason?) {
        let decoded = Decoded.params("publish", #"{"type":1,"value":\#(value)}"#)
        let rejection = reason.map {
            Rejection($0, field: .value, min: 10_000, max: 2_147_483_647)
        }
        #expect(decoded.rejection == rejection)
    }

    @Test(arguments: [(0, false), (1, true), (1_000, true), (1_001, false)])
    func `bounds of a page`(limit: Int, isGood: Bool) {
        let decoded = Decoded.params("subscriptions", #"{"limit":\#(limit)}"#)
        let rejection = Rejection(.outOfRange, field: .limit, min: 1, max: 1_000)
        #expect(decoded.rejection == (isGood ? nil : rejection))
    }

    @Test(arguments: [
        "", "0", "000000000000", "00000000000000", "G000000000000", "000000000000U",
        "000000000000a",
        "00000000000 0", "-000000000001", "000000000000é",
    ])
    func `cursors that nobody gave`(cursor: String) {
        let decoded = Decoded.params("subscriptions", #"{"cursor":"\#(cursor)"}"#)
        #expect(decoded.rejection == Rejection(.outOfRange, field: .cursor))
        let message = Decoded.params("take", #"{"id":"\#(cursor)"}"#)
        #expect(message.rejection == Rejection(.outOfRange, field: .id))
    }

    @Test(arguments: [
        ("publish", #""type":1,"value":10000"#, Rejection.Field.ext, 4_096),
        ("kick", #""account":"a""#, .reason, 256),
    ])
    func `bounds of a text`(method: String, rest: String, field: Rejection.Field, limit: Int) {
        let key = field.rawValue
        // An escape counts as the bytes it stands for.
        let text = String(repeating: "\\u00e9", count: limit / 2)
        #expect(Decoded.params(method, "{\(rest),\"\(key)\":\"\(text)\"}").method != nil)
        #expect(Decoded.params(method, "{\(rest),\"\(key)\":\"\"}").method != nil)
        let rejection = Rejection(.tooLong, field: field, limit: limit, count: limit + 1)
        #expect(Decoded.params(method, "{\(rest),\"\(key)\":\"\(text)x\"}").rejection == rejection)
    }

    @Test(arguments: Slot.lists)
    func `bounds of a list`(slot: Slot) {
        let most = slot.method == "query" ? 500 : 100
        let many = (0..<most).map { "\"n\($0)\"" }
        func decode(_ names: [String]) -> Decoded {
            slot.decode("[\(names.joined(separator: ","))]")
        }
        #expect(
            decode([]).rejection == Rejection(.outOfRange, field: slot.field, min: 1, max: most))
        #expect(decode(many).names.count == most)
        #expect(decode(many + [#""n0""#]).names == (0..<most).map { "n\($0)" })
        let tooMany = Rejection(.tooMany, field: slot.field, limit: most)
        #expect(decode(many + [#""other""#]).rejection == tooMany)
        let repeats = [String](repeating: #""again""#, count: 5_000)
        #expect(decode(repeats).names == ["again"])
        let long = Rejection(.tooLong, field: slot.field, limit: 128, count: 129, index: 0)
        #expect(decode(["\"\(String(repeating: "x", count: 129))\""]).rejection == long)
        let invalid = Rejection(.invalidName, field: slot.field, limit: 128, index: 1)
        #expect(decode([#""a""#, #""""#]).rejection == invalid)
        let hundred = (0..<100).map { $0 == 73 ? #"" a""# : #""n\#($0)""# }
        #expect(decode(hundred).rejection?.index == 73)
    }

    @Test func `limits of the service's own choice`() {
        var limits = Limits()
        limits.publishersPerRequestMax = 2
        limits.accountBytesMax = 3
        limits.subscriptionExpirySecondsMax = 61
        func rejection(_ expiry: Int, _ names: String) -> Rejection? {
            Decoded.params(
                "subscribe", #"{"type":1,"expiry":\#(expiry),"publishers":[\#(names)]}"#,
                limits: limits
            ).rejection
        }
        #expect(rejection(61, #""abc","b""#) == nil)
        #expect(rejection(62, #""a""#) == Rejection(.outOfRange, field: .expiry, min: 60, max: 61))
        #expect(rejection(60, #""a","b","c""#) == Rejection(.tooMany, field: .publishers, limit: 2))
        let long = Rejection(.tooLong, field: .publishers, limit: 3, count: 4, index: 0)
        #expect(rejection(60, #""abcd""#) == long)
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
                #expect(decoded.rejection?.reason == .tooMany)
            } else {
                #expect(decoded.names == expected)
            }
        }
    }
}
