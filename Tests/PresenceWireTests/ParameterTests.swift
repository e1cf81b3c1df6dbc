import PresenceWire
import Testing

@testable import PresenceCore

/// A case of the table: a method, its parameters, and the rejection that they meet.
struct RejectedCase: CustomTestStringConvertible, Sendable {
    var method: String
    var params: String
    var rejection: Rejection

    init(_ method: String, _ params: String, _ rejection: Rejection) {
        self.method = method
        self.params = params
        self.rejection = rejection
    }

    var testDescription: String { "\(method) \(params)" }
}

/// One parameter of one method, with the rest that makes a whole request.
struct Slot: CustomTestStringConvertible, Sendable {
    var method: String
    /// The other parameters that are required, each followed by a comma.
    var rest: String
    var field: Rejection.Field

    init(_ method: String, _ rest: String, _ field: Rejection.Field) {
        self.method = method
        self.rest = rest
        self.field = field
    }

    var testDescription: String { "\(method).\(field.rawValue)" }

    func decode(_ value: String) -> Decoded {
        Decoded.params(method, "{\(rest)\"\(field.rawValue)\":\(value)}")
    }

    static let strings = [
        Slot("login", #""device":"d","#, .token), Slot("login", "", .key),
        Slot("login", #""device":"d","#, .account), Slot("login", #""account":"a","#, .device),
        Slot("login", #""account":"a","device":"d","#, .client),
        Slot("login", #""account":"a","device":"d","#, .sync),
        Slot("subscribe", #""type":1,"expiry":60,"publishers":["a"],"#, .account),
        Slot("unsubscribe", #""type":1,"#, .account), Slot("subscriptions", "", .account),
        Slot("subscriptions", "", .cursor), Slot("subscribers", #""type":1,"#, .publisher),
        Slot("subscribers", #""type":1,"publisher":"a","#, .cursor),
        Slot("publish", #""type":1,"value":10000,"#, .account),
        Slot("publish", #""type":1,"value":10000,"#, .ext), Slot("clear", #""type":1,"#, .account),
        Slot("sessions", "", .account), Slot("kick", "", .account),
        Slot("kick", #""account":"a","#, .device), Slot("kick", #""account":"a","#, .reason),
        Slot("relate", #""action":"remove","#, .contact),
        Slot("relate", #""contact":"a","#, .action),
        Slot("relate", #""contact":"a","action":"accept","#, .account),
        Slot("relate", #""contact":"a","action":"request","#, .text),
        Slot("relate", #""contact":"a","action":"request","#, .name),
        Slot("relate", #""contact":"a","action":"describe","#, .text),
        Slot("relate", #""contact":"a","action":"describe","#, .name),
        Slot("contacts", "", .account), Slot("contacts", "", .cursor),
        Slot("setVisibility", "", .visibility),
        Slot("setVisibility", #""visibility":"open","#, .account),
        Slot("setAvailability", "", .show), Slot("setAvailability", "", .text),
        Slot("send", #""accounts":["a"],"body":"x","#, .account),
        Slot("send", #""accounts":["a"],"body":"x","#, .device),
        Slot("send", #""accounts":["a"],"#, .body),
        Slot("send", #""accounts":["a"],"body":"x","#, .ext),
        Slot("send", #""accounts":["a"],"body":"x","#, .ref),
        Slot("take", "", .id), Slot("discard", "", .account),
        Slot("discard", "", .from),
        Slot("setDevice", "", .account), Slot("setDevice", "", .device),
        Slot("setDevice", "", .alias), Slot("setDevice", "", .pushAddress),
        Slot("devices", "", .account),
    ]
    static let integers = [
        Slot("subscribe", #""expiry":60,"publishers":["a"],"#, .type),
        Slot("subscribe", #""type":1,"publishers":["a"],"#, .expiry),
        Slot("unsubscribe", "", .type), Slot("subscriptions", "", .type),
        Slot("subscriptions", "", .limit), Slot("publish", #""value":10000,"#, .type),
        Slot("publish", #""type":1,"#, .value),
        Slot("publish", #""type":1,"value":10000,"#, .expiry),
        Slot("clear", "", .type), Slot("query", #""accounts":["a"],"#, .type),
        Slot("subscribers", #""publisher":"a","#, .type),
        Slot("subscribers", #""type":1,"publisher":"a","#, .limit),
        Slot("send", #""accounts":["a"],"body":"x","#, .expiry),
    ]
    static let flags = [
        Slot("login", #""account":"a","device":"d","#, .pushReachable),
        Slot("subscribe", #""type":1,"expiry":60,"publishers":["a"],"#, .sync),
        Slot("publish", #""type":1,"value":10000,"#, .onlineOnly),
        Slot("publish", #""type":1,"value":10000,"#, .sync),
    ]
    /// Booleans, or objects of booleans.
    static let choices = [Slot("login", #""account":"a","device":"d","#, .messages)]
    static let lists = [
        Slot("subscribe", #""type":1,"expiry":60,"#, .publishers),
        Slot("unsubscribe", #""type":1,"#, .publishers), Slot("subscriptions", "", .publishers),
        Slot("query", #""type":1,"#, .accounts), Slot("send", #""body":"x","#, .accounts),
    ]
    static let names = strings.filter { [.account, .publisher, .device].contains($0.field) }
}

@Suite struct ParameterTests {
    @Test(arguments: Slot.strings)
    func `strings of another kind`(slot: Slot) {
        for value in ["null", "1", "1.5", "true", "[]", "{}", "[\"a\"]", "18446744073709551616"] {
            #expect(slot.decode(value).rejection == Rejection(.wrongType, field: slot.field))
        }
    }

    @Test(arguments: Slot.choices)
    func `choices of another kind`(slot: Slot) {
        for value in [
            "null", "0", "1", "\"true\"", "[]", "[true]", #"{"sent":null}"#, #"{"sent":1}"#,
            #"{"sent":{}}"#,
        ] {
            #expect(slot.decode(value).rejection == Rejection(.wrongType, field: slot.field))
        }
        #expect(
            slot.decode(#"{"sent":true,"sent":true}"#).rejection
                == Rejection(.duplicateField, field: slot.field))
    }

    @Test func `what a session is sent of messages`() {
        for (value, delivery) in [
            ("true", .on), ("false", .off), ("{}", .on), (#"{"sent":false}"#, .on),
            (#"{"sent":true}"#, .withCopies), (#"{"x":[{}],"s\u0065nt":true,"y":1}"#, .withCopies),
        ] as [(String, Login.MessageDelivery)] {
            let decoded = Decoded.params(
                "login", #"{"account":"a","messages":\#(value),"device":"d"}"#)
            guard case .login(let login) = decoded.method else {
                Issue.record("\(value) is rejected")
                continue
            }
            #expect(login.messages == delivery)
        }
    }

    @Test(arguments: Slot.integers)
    func `integers of another kind`(slot: Slot) {
        for value in ["null", "\"60\"", "60.0", "6e1", "true", "[]", "{}", "1e999"] {
            #expect(slot.decode(value).rejection == Rejection(.wrongType, field: slot.field))
        }
    }

    @Test(arguments: Slot.flags)
    func `flags of another kind`(slot: Slot) {
        for value in ["null", "0", "1", "\"true\"", "[]", "{}"] {
            #expect(slot.decode(value).rejection == Rejection(.wrongType, field: slot.field))
        }
        #expect(slot.decode("true").method != slot.decode("false").method)
        #expect(slot.decode("true").method != nil)
    }

    @Test(arguments: Slot.lists)
    func `lists of another kind`(slot: Slot) {
        for (value, index) in [
            ("null", nil), ("\"a\"", nil), ("1", nil), ("{}", nil), ("[1]", 0),
            ("[\"a\",null]", 1), ("[\"a\",\"a\",[\"b\"]]", 2), ("[{}]", 0),
        ] as [(String, Int?)] {
            #expect(
                slot.decode(value).rejection
                    == Rejection(.wrongType, field: slot.field, index: index))
        }
    }

    @Test(arguments: Slot.strings + Slot.integers + Slot.flags + Slot.lists)
    func `a parameter that stands twice`(slot: Slot) {
        let key = slot.field.rawValue
        let escaped = "\\u00" + String(key.utf8.first ?? 0, radix: 16) + key.dropFirst()
        for twin in [key, escaped] {
            let params = "{\(slot.rest)\"\(key)\":0,\"z\":[],\"\(twin)\":0}"
            let decoded = Decoded.params(slot.method, params)
            #expect(decoded.rejection == Rejection(.duplicateField, field: slot.field))
        }
    }

    @Test func `an unknown parameter that stands twice`() {
        let decoded = Decoded.params("ping", #"{"zz":1,"z\u007a":1}"#)
        #expect(decoded.rejection == Rejection(.duplicateField, field: .params))
    }

    @Test(arguments: [
        #"{"a":1,"a":1}"#, #"[{"a":1,"\u0061":1}]"#, #"{"x":{"y":[0,{"k":1,"l":2,"k":3}]}}"#,
    ])
    func `a key that stands twice deeper down`(value: String) {
        let decoded = Decoded.params("ping", "{\"zz\":\(value)}")
        #expect(decoded.rejection == Rejection(.duplicateField, field: .params))
        let envelope = Decoded(#"{"jsonrpc":"2.0","id":7,"method":"ping","zz":\#(value)}"#)
        #expect(envelope.envelopeError == EnvelopeError(.duplicateField))
        let once = value.replacing("\\u0061", with: "b").replacing("\"a\":1}", with: "\"b\":1}")
            .replacing("\"k\":3", with: "\"m\":3")
        #expect(Decoded.params("ping", "{\"zz\":\(once)}").method == .command(.ping))
    }

    @Test(arguments: Slot.names)
    func `names that are none`(slot: Slot) {
        let limit = slot.field == .device ? 64 : 128
        let bad = [
            "", " ", " a", "a ", "a\\u0000", "a\\u001fb", "\\u007f", "\\u0080", "a\\u009F", "\\n",
            "\u{80}b", "\u{9F}", "é\u{85}",
        ]
        for name in bad {
            let rejection = Rejection(.invalidName, field: slot.field, limit: limit)
            #expect(slot.decode("\"\(name)\"").rejection == rejection, "\(name)")
        }
    }

    @Test(arguments: Slot.names)
    func `names at their bound`(slot: Slot) {
        let limit = slot.field == .device ? 64 : 128
        let longest = String(repeating: "é", count: limit / 2)
        for name in ["a", "a b", "\u{A0}", "\u{200F}א", "\u{2028}", "\"quoted\"", longest] {
            let json = name.replacing("\"", with: "\\\"")
            #expect(slot.decode("\"\(json)\"").method != nil, "\(name)")
        }
        let rejection = Rejection(.tooLong, field: slot.field, limit: limit, count: limit + 1)
        #expect(slot.decode("\"\(longest)x\"").rejection == rejection)
    }
}
