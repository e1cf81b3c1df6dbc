import PresenceClient
import Testing

@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("plain Text 会议 😀", "plain Text 会议 😀"),
        ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
        ("a\nb\tc\u{0}", "a\\u{a}b\\u{9}c\\u{0}"),
        ("\u{202e}drowssap\u{2066}", "\\u{202e}drowssap\\u{2066}"),
        ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
        ("a\u{2028}b\u{2029}", "a\\u{2028}b\\u{2029}"),
        ("\u{200b}\u{feff}", "\\u{200b}\\u{feff}"),
    ])
    func `shows what a terminal would obey`(text: String, shown: String) {
        #expect(visible(text) == shown)
    }
}

@Suite struct JSONTests {
    @Test func `values survive a round trip`() throws {
        let value: JSON = [
            "a": 1, "b": "x\"\\\u{1}é", "c": [true, false, .null], "d": .number(1.5),
            "e": [:], "f": -9_007_199_254_740_993,
        ]
        #expect(try JSON(parsing: Array(value.text.utf8)) == value)
    }

    @Test func `1 and 0 are not booleans`() throws {
        #expect(try JSON(parsing: Array("[1,0,true]".utf8)) == [1, 0, true])
    }

    @Test func `invalid JSON is rejected`() {
        #expect(throws: ClientError.self) { try JSON(parsing: Array("{".utf8)) }
    }
}
