import Containers
import PresenceWire
import Testing

@testable import PresenceCore

/// Bytes that are no JSON, or JSON at the edge of what it may be.
@Suite struct TortureTests {
    private static func nested(_ levels: Int, inner: String, closed: Bool = true) -> String {
        // The envelope is the first level, `params` the second.
        let open = String(repeating: "[", count: levels - 2)
        let close = closed ? String(repeating: "]", count: levels - 2) : ""
        return
            #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":\#(open)\#(inner)\#(close)}}"#
    }

    @Test(arguments: [
        "", " ", "\n\t\r ", "{", "}", "{}}", "{} {}", "{}x", "\u{FEFF}{}", "nul", "NaN",
        #"{"a":NaN}"#, #"{"a":Infinity}"#, #"{"a":1,}"#, "{,}", #"{"a"}"#, #"{"a":}"#, #"{a:1}"#,
        #"{'a':1}"#, #"{"a":01}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#, #"{"a":1e}"#,
        #"{"a":-}"#, #"{"a":0x10}"#, #"{"a":1 /* c */}"#, "// c\n{}", #"{"a":"\x"}"#,
        #"{"a":"\u12"}"#,
        #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#, #"{"a":"\ud800\ud800"}"#, #"{"a":"\udc00\ud800"}"#,
        #"{"\ud800":1}"#, #"{"a":["\uDFFF"]}"#, #"{"a":"\ud83d\\ude00"}"#, "{\"a\":\"\n\"}",
        "{\"a\":\"\0\"}", "{}\0", "\0{}", #"{"a":1e999,}"#, #"{"a":99999999999999999999999"#,
        #"{"a":99999999999999999999999x}"#, #"{"a":"x}"#, "[1,2", "[1}",
    ])
    func `invalid JSON`(json: String) {
        let decoded = Decoded(json)
        #expect(decoded.envelopeError?.reason == .invalidJSON)
        #expect(decoded.envelopeError?.position != nil)
        #expect(decoded.id == .unknown)
    }

    @Test(
        arguments: [
            [0xFF], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xF0, 0x80, 0x80, 0xAF],
            [0xED, 0xA0, 0x80], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xC3], [0xE2, 0x82], [0xC3, 0x28],
            [0xFE, 0xFF],
        ] as [[UInt8]])
    func `invalid UTF-8, wherever it stands`(bad: [UInt8]) {
        let places: [(String, String)] = [
            (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#, #""}}"#),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{""#, #"":1}}"#),
            (#"{"jsonrpc":"2.0","id":""#, #"","method":"ping"}"#),
            ("", "{}"), ("{}", ""), (#"{"a":""#, ""), ("{", "}"), (#"{"a":"\ud800","b":""#, #""}"#),
            (String(repeating: " ", count: 4_000), "x"),
        ]
        for (before, after) in places {
            let decoded = Decoded(Array(before.utf8) + bad + Array(after.utf8))
            #expect(decoded.envelopeError == EnvelopeError(.invalidUTF8), "\(before)")
        }
    }

    @Test func `UTF-16 and UTF-32 are not read`() {
        let text = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
        let little = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        #expect(Decoded(little).envelopeError == EnvelopeError(.invalidJSON, position: 1))
        #expect(Decoded(big).envelopeError == EnvelopeError(.invalidJSON, position: 0))
        #expect(Decoded([0xFF, 0xFE] + little).envelopeError == EnvelopeError(.invalidUTF8))
        #expect(Decoded([0xFE, 0xFF] + big).envelopeError == EnvelopeError(.invalidUTF8))
    }

    @Test(arguments: ["", "1", "{}", "[]"])
    func `nesting up to 32 levels`(inner: String) {
        let extra = inner == "{}" || inner == "[]" ? 1 : 0
        #expect(Decoded(Self.nested(32 - extra, inner: inner)).method == .command(.ping))
        let deep = Decoded(Self.nested(33 - extra, inner: inner))
        #expect(deep.envelopeError == EnvelopeError(.tooDeep))
        #expect(deep.id == .unknown)
    }

    @Test func `nesting that never ends`() {
        for opening in ["[", #"{"a":"#] {
            let json = String(repeating: opening, count: 100_000)
            #expect(Decoded(json).envelopeError?.reason.code == -32_700)
        }
        let closed = Self.nested(30_000, inner: "")
        #expect(Decoded(closed).envelopeError == EnvelopeError(.tooDeep))
        let beside =
            #"{"x":"# + String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(Decoded(beside + "}").envelopeError == EnvelopeError(.tooDeep))
    }

    @Test(arguments: ["1", "null", "true", "\"x\"", "-0.5", "1e999", "99999999999999999999"])
    func `values that are no object`(json: String) {
        #expect(Decoded(json).envelopeError == EnvelopeError(.invalidRequest))
    }

    @Test(arguments: ["[]", "[1]", #"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#])
    func `batches`(json: String) {
        #expect(Decoded(json).envelopeError == EnvelopeError(.batchNotSupported))
    }

    @Test func `white space around the request`() {
        let decoded = Decoded(" \t\r\n{\"jsonrpc\" : \"2.0\" ,\n\"method\"\t: \"ping\"\r} \n")
        #expect(decoded.method == .command(.ping))
    }

    @Test(
        arguments: [
            ("1.0", .wrongType), ("1e0", .wrongType), ("100.0", .wrongType), ("1e4", .wrongType),
            ("1E2", .wrongType), ("1e999", .wrongType), ("-1e999", .wrongType),
            ("true", .wrongType),
            ("\"1\"", .wrongType), ("null", .wrongType), ("[1]", .wrongType), ("{}", .wrongType),
            ("-0", .outOfRange), ("-1", .outOfRange), ("9007199254740993", .outOfRange),
            ("9223372036854775807", .outOfRange), ("9223372036854775808", .outOfRange),
            ("-9223372036854775809", .outOfRange), ("18446744073709551615", .outOfRange),
            ("18446744073709551616", .outOfRange),
            (String(repeating: "9", count: 100), .outOfRange),
            ("-" + String(repeating: "9", count: 60_000), .outOfRange),
        ] as [(String, Rejection.Reason)])
    func `numbers that are no bound of ours`(number: String, reason: Rejection.Reason) {
        for field in ["type", "expiry", "value", "limit"] {
            let type = field == "type" ? "" : #""type":1,"#
            let value = field == "expiry" ? #""value":10000,"# : ""
            let method = field == "limit" ? "subscriptions" : "publish"
            let decoded = Decoded.params(method, "{\(type)\(value)\"\(field)\":\(number)}")
            #expect(decoded.rejection?.reason == reason)
            #expect(decoded.rejection?.field?.rawValue == field)
        }
    }

    @Test func `a number beside one that is too large keeps its value`() {
        let decoded = Decoded(
            #"{"jsonrpc":"2.0","x":1e999,"id":-9223372036854775808,"method":"ping","#
                + #""y":["\"-1",18446744073709551616, 1.25e400]}"#)
        #expect(decoded.method == .command(.ping))
        #expect(decoded.id == .integer(.min))
    }

    @Test func `random bytes and broken requests end in an answer`() {
        var generator = SplitMix64(seed: 3)
        let whole =
            Array(
                #"{"jsonrpc":"2.0","id":"a\u00e9","method":"subscribe","params":{"type":1,"#.utf8)
            + Array(#""expiry":60,"publishers":["a","é\n",1e5,99999999999999999999],"#.utf8)
            + Array(#""x":[[]]}}"#.utf8)
        var errors = 0
        var decoder = RequestDecoder()
        for _ in 0..<20_000 {
            var body = whole
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 0..<body.count, using: &generator)
                switch UInt8.random(in: 0...2, using: &generator) {
                case 0: body[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: body.remove(at: index)
                default: body.removeSubrange(index...)
                }
                if body.isEmpty { break }
            }
            if case .failure = decoder.decode(body.span.bytes) { errors += 1 }
        }
        #expect(errors > 19_000)
    }
}
