import NIOCore
import PresenceGateway
import Testing

/// Taking JSON apart, and putting it together.
@Suite struct `JSON` {
    private func members(_ text: String) throws(JSONError) -> [String] {
        try JSONObject(ByteBuffer(string: text)).members.map {
            "\($0.name)=\(String(buffer: $0.value))"
        }
    }

    private func fault(_ bytes: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try JSONObject(ByteBuffer(bytes: bytes))
            return nil
        } catch {
            return error
        }
    }

    @Test func `members keep their values as they were sent`() throws {
        let text = #" {"a" : 1.50e+3 ,"b":[1, {"c":"}"}],"a":null,"\u0074ype":"\"\\","":{} } "#
        #expect(
            try members(text) == [
                "a=1.50e+3", #"b=[1, {"c":"}"}]"#, "a=null", #"type="\"\\""#, "={}",
            ])
        #expect(try members("{}").isEmpty)
    }

    @Test(arguments: [
        "", " ", "{", "}", "{}}", "{} {}", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a" 1}"#,
        #"{"a":1 "b":2}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#,
        #"{"a":+1}"#, #"{"a":-}"#, #"{"a":1e}"#, #"{"a":tru}"#, #"{"a":nul}"#, #"{"a":"}"#,
        #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#,
        #"{"a":"\ud800\u0041"}"#, "{\"a\":\"\n\"}", #"{"a":[}"#, #"{"a":[1,]}"#, #"{"a":NaN}"#,
        #"{"a":1}x"#, "\u{FEFF}{}", "{\"a\":\u{A0}1}",
    ])
    func `what is no JSON is refused`(text: String) {
        #expect(fault(Array(text.utf8)) == .invalid)
    }

    @Test func `other faults are told apart`() {
        #expect(fault(Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)) == .invalidUTF8)
        #expect(fault(Array("[1]".utf8)) == .noObject)
        #expect(fault(Array("null".utf8)) == .noObject)
        let deep = String(repeating: "[", count: 29) + String(repeating: "]", count: 29)
        #expect(fault(Array("{\"a\":\(deep)}".utf8)) == nil)
        #expect(fault(Array("{\"a\":[\(deep)]}".utf8)) == .tooDeep)
        let many = (0..<65).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(fault(Array("{\(many)}".utf8)) == .tooManyMembers)
    }

    @Test func `every beginning of an object is refused`() throws {
        let text = #"{"a":[1,-2.5e7,"\u00e9é",true,null],"b":{"c":{}}}"#
        for count in 0..<text.utf8.count {
            #expect(fault(Array(text.utf8.prefix(count))) != nil, "\(count)")
        }
    }

    @Test(arguments: ["", "é\u{1F600}", "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}"])
    func `a string that is written reads the same`(text: String) throws {
        var buffer = ByteBuffer()
        buffer.writeJSON(text)
        #expect(JSONText.string(buffer) == text)
        var members = JSONMembers()
        members.append(text, text)
        members.append("n", -7)
        members.append("l", [text, "x"])
        let object = try JSONObject(members.object)
        #expect(object[text].flatMap(JSONText.string) == text)
        #expect(object["n"].flatMap(JSONText.integer) == -7)
        #expect(object.members.count == 3)
    }

    @Test func `escapes of pairs are one character`() {
        #expect(JSONText.string(ByteBuffer(string: #""\ud83d\ude00\u00e9""#)) == "\u{1F600}é")
    }

    @Test(arguments: [
        ("10.0", "10"), ("-0.000", "-0"), ("10", "10"), ("10.5", "10.5"), ("1.0e1", "1.0e1"),
        ("\"1.0\"", "\"1.0\""), ("[1.0]", "[1.0]"), ("1.", "1."),
    ])
    func `a fraction of zero goes`(value: String, whole: String) {
        #expect(
            JSONText.withoutZeroFraction(ByteBuffer(string: value)) == ByteBuffer(string: whole))
    }

    @Test func `integers are told from other numbers`() {
        for text in ["0", "-0", "7", "-12", "123456789012345678901234567890"] {
            #expect(JSONText.isInteger(ByteBuffer(string: text)), "\(text)")
        }
        for text in ["", "-", "01", "1.0", "1e3", "+1", " 1", "1 ", "٣", "\"1\""] {
            #expect(!JSONText.isInteger(ByteBuffer(string: text)), "\(text)")
        }
    }
}
