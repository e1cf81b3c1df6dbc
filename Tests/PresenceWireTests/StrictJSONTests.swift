import PresenceWire
import Testing

@Suite struct `Strict JSON` {
    private func error(_ text: [UInt8]) -> StrictJSONError? {
        do throws(StrictJSONError) {
            try StrictJSON.check(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "{}", "[]", "1", "\"a\"", "null", #"{"a":1,"b":{"a":2}}"#, #"[{"a":1},{"a":1}]"#,
        #"{"a":1,"A":2," a":3}"#, #"{"\u00e9":1,"e\u0301":2}"#, "{\"K\":1,\"\u{212A}\":2}",
        #"{"a":1e999}"#, " {} ",
    ])
    func `is one value without duplicate members`(text: String) {
        #expect(error(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        #"{"sub":1,"sub":2}"#, #"{"sub":1,"s\u0075b":1}"#, #"{"a":{"b":[{"c":1,"c":1}]}}"#,
        #"[{"":1,"":1}]"#, #"{"a":1,"b":2,"a":1}"#, #"{"\u00e9":1,"é":2}"#,
        #"{"\ud83d\ude00":1,"😀":2}"#,
    ])
    func `has no duplicate member, however it is escaped`(text: String) {
        #expect(error(Array(text.utf8)) == .duplicateMember)
    }

    @Test func `has no duplicate member among many`() {
        var members = (0..<5_000).map { "\"m\($0)\":0" }
        #expect(error(Array("{\(members.joined(separator: ","))}".utf8)) == nil)
        members.append("\"m77\":0")
        #expect(error(Array("{\(members.joined(separator: ","))}".utf8)) == .duplicateMember)
    }

    @Test func `is nothing else`() {
        for text in ["", " ", "{", "{}{}", "{'a':1}", "{a:1}", "[1,]", "\u{FEFF}{}", "// x\n{}"] {
            #expect(error(Array(text.utf8)) == .invalid, "\(text)")
        }
        #expect(error([0x7B, 0, 0x7D, 0]) == .invalid, "UTF-16")
        #expect(error([0x22, 0xC3, 0x28, 0x22]) == .invalid, "not UTF-8")
        for (levels, expected) in [(32, nil), (33, StrictJSONError.invalid)] {
            let deep = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            #expect(error(Array(deep.utf8)) == expected)
        }
        #expect(error(Array(repeating: UInt8(ascii: "["), count: 1 << 20)) == .invalid)
    }
}
