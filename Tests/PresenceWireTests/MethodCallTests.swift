import PresenceCore
import Testing

@testable import PresenceWire

/// Calls of this process: parameters from arguments and from a body.
@Suite struct `A method call` {
    private func decode(
        _ call: MethodCall, limits: Limits = Limits()
    ) -> (result: Result<Method, MethodCallError>, texts: (ByteRange) -> String) {
        var decoder = RequestDecoder(limits: limits)
        let result = Result { () throws(MethodCallError) in try decoder.decode(call) }
        var texts = RequestTexts()
        let mark = decoder.appendTexts(to: &texts)
        let source = texts[mark]
        return (result, { String(decoding: source.bytes($0), as: UTF8.self) })
    }

    private func publish(_ body: String) -> MethodCall {
        var call = MethodCall(.publish)
        call.arguments = [.init(.account, .text("bob")), .init(.type, .integer(100))]
        call.body = Array(body.utf8)
        call.bodyMembers = [.value, .expiry, .ext, .onlineOnly, .sync]
        return call
    }

    private func error(_ call: MethodCall) -> MethodCallError? {
        guard case .failure(let error) = decode(call).result else { return nil }
        return error
    }

    private func bodyError(_ body: [UInt8]) -> BodyError? {
        var call = MethodCall(.query)
        call.body = body
        guard case .body(let reason) = error(call) else { return nil }
        return reason
    }

    @Test func `has parameters of arguments and of its body`() throws {
        let (result, text) = decode(publish(#" {"value":10001,"e\u0078t":"a\"\u00e9"} "#))
        guard case .command(.publish(let account, let request)) = try result.get() else {
            Issue.record("another result")
            return
        }
        #expect(account.map(text) == "bob" && request.type.number == 100)
        #expect(request.value == 10_001 && request.ext.map(text) == "a\"é")
    }

    @Test func `is rejected with the caller's name for an argument`() {
        var call = MethodCall(.query)
        call.arguments = [
            .init(.accounts, .texts([" a"]), for: .account), .init(.type, .integer(1)),
        ]
        let invalid = Rejection(.invalidName, field: .account, limit: 128)
        #expect(error(call) == .rejected(invalid))
        call.arguments[0].callerField = nil
        let element = Rejection(.invalidName, field: .accounts, limit: 128, index: 0)
        #expect(error(call) == .rejected(element))
        call.arguments[0] = .init(.accounts, .texts(["a"]), for: .account)
        call.arguments[1] = .init(.type, .integer(2))
        let type = Rejection(.outOfRange, field: .type, min: 100, max: 65_535)
        #expect(error(call) == .rejected(type))
    }

    @Test func `ignores members that are not its operation's`() throws {
        let body = #"{"account":"eve","type":7,"x":{"y":1,"z":2},"value":10001}"#
        let (result, text) = decode(publish(body))
        guard case .command(.publish(let account, let request)) = try result.get() else {
            Issue.record("another result")
            return
        }
        #expect(account.map(text) == "bob" && request.type.number == 100)
    }

    @Test(arguments: [
        #"{"x":1,"x":2}"#, #"{"x":1,"\u0078":1}"#, #"{"x":{"y":1,"y":2}}"#,
        #"{"x":[{"y":{"z":1,"z":1}}]}"#, #"{"type":1,"type":1}"#,
    ])
    func `has no member twice, its operation's or not`(body: String) {
        #expect(bodyError(Array(body.utf8)) == .duplicateMember)
        #expect(error(publish(body)) == .body(.duplicateMember))
    }

    @Test func `may have lists, and any names in them`() throws {
        var call = MethodCall(.query)
        let names = ["a", "é\u{1F600}", "\"\\{}", "a"]
        call.arguments = [.init(.accounts, .texts(names)), .init(.type, .integer(1))]
        var decoder = RequestDecoder()
        guard case .command(.query(_, let accounts)) = try decoder.decode(call) else {
            Issue.record("another result")
            return
        }
        let found = decoder.names(accounts).map { decoder.bytes($0) }
        #expect(found == names[..<3].map { Array($0.utf8) })
        // Nothing of it is left for the next one.
        #expect(throws: MethodCallError.rejected(Rejection(.missingField, field: .type))) {
            try decoder.decode(MethodCall(.query))
        }
    }

    @Test(arguments: [
        ("10001.0", 10_001), ("10001.000", 10_001), ("1.0001e4", 10_001), ("10001", 10_001),
    ])
    func `takes a number without a fractional part for an integer`(
        number: String, value: Int
    ) throws {
        // A number in the same body that no machine type holds changes nothing.
        for rest in ["", #","x":1e999,"y":123456789012345678901234567890"#] {
            guard number.contains("e") == false || rest.isEmpty else { continue }
            let (result, _) = decode(publish("{\"value\":\(number)\(rest)}"))
            guard case .command(.publish(_, let request)) = try result.get() else {
                Issue.record("another result")
                return
            }
            #expect(request.value == value)
        }
    }

    @Test(arguments: ["10001.5", "1e999", "\"10001\"", "[10001.0]", "null"])
    func `takes nothing else for one`(value: String) {
        #expect(
            error(publish("{\"value\":\(value)}"))
                == .rejected(Rejection(.wrongType, field: .value)))
    }

    @Test func `is rejected for an integer that is too large`() {
        var call = publish("{}")
        call.arguments[1] = .init(.type, .integer(nil))
        let rejection = Rejection(.outOfRange, field: .type, min: 100, max: 65_535)
        #expect(error(call) == .rejected(rejection))
        for value in ["123456789012345678901234567890", "100000000000000000000.0"] {
            guard case .rejected(let rejection) = error(publish("{\"value\":\(value)}")) else {
                Issue.record("\(value)")
                continue
            }
            #expect(rejection.reason == .outOfRange)
        }
    }

    @Test func `is rejected for a parameter that is given twice`() {
        let twice = Rejection(.duplicateField, field: .value)
        #expect(error(publish(#"{"value":10001,"value":10002}"#)) == .rejected(twice))
        #expect(error(publish(#"{"value":{"a":1,"a":2}}"#)) == .rejected(twice))
    }

    @Test func `is limited like a frame`() {
        var limits = Limits()
        limits.frameBytesMax = 100
        limits.frameBytesBeforeLoginMax = 100
        var call = MethodCall(.subscriptions)
        call.arguments = [.init(.publishers, .texts(Array(repeating: "", count: 50)))]
        guard case .failure(let error) = decode(call, limits: limits).result else {
            Issue.record("not rejected")
            return
        }
        #expect(error == .tooLong(bytesMax: 100))
        call.arguments = [.init(.publishers, .texts(Array(repeating: "", count: 25)))]
        guard case .failure(.rejected) = decode(call, limits: limits).result else {
            Issue.record("not rejected for its names")
            return
        }
    }

    @Test(arguments: [
        "", " ", "{", "}", "{}}", "{} {}", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a" 1}"#,
        #"{"a":1 "b":2}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#,
        #"{"a":+1}"#, #"{"a":-}"#, #"{"a":1e}"#, #"{"a":tru}"#, #"{"a":nul}"#, #"{"a":"}"#,
        #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#,
        #"{"a":"\ud800\u0041"}"#, "{\"a\":\"\n\"}", #"{"a":[}"#, #"{"a":[1,]}"#, #"{"a":NaN}"#,
        #"{"a":1}x"#, "\u{FEFF}{}", "{\"a\":\u{A0}1}",
    ])
    func `has no body that is not JSON`(text: String) {
        let position = JSONScanner.errorOffset(in: Array(text.utf8))
        #expect(position != nil)
        #expect(bodyError(Array(text.utf8)) == .invalidJSON(position: position))
    }

    @Test func `tells other errors of a body apart`() {
        #expect(
            bodyError(Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)) == .invalidUTF8)
        #expect(bodyError(Array("[1]".utf8)) == .notAnObject)
        #expect(bodyError(Array("null".utf8)) == .notAnObject)
        for known in [false, true] {
            let name = known ? "type" : "a"
            let deep = String(repeating: "[", count: 29) + String(repeating: "]", count: 29)
            var call = MethodCall(.query)
            call.bodyMembers = [.type]
            call.body = Array("{\"\(name)\":\(deep)}".utf8)
            guard case .rejected = error(call) else {
                Issue.record("too deep already")
                return
            }
            call.body = Array("{\"\(name)\":[\(deep)]}".utf8)
            #expect(error(call) == .body(.tooDeep(levelsMax: 30)))
        }
        let many = (0..<65).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(bodyError(Array("{\(many)}".utf8)) == .tooManyMembers(countMax: 64))
    }

    @Test func `has no beginning of a body as its body`() {
        let text = #"{"a":[1,-2.5e7,"\u00e9é",true,null],"b":{"c":{}}}"#
        for count in 0..<text.utf8.count {
            #expect(bodyError(Array(text.utf8.prefix(count))) != nil, "\(count)")
        }
    }
}
