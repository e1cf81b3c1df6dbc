import Containers
import Testing

@Suite struct `An exact text` {
    /// A text, and another that Swift takes for the same.
    static let pairs = [
        ("\u{C5}", "\u{212B}"), ("K", "\u{212A}"), ("é", "e\u{301}"), (";", "\u{37E}"),
        ("OKP", "O\u{212A}P"), ("\u{1EA5}", "a\u{302}\u{301}"), ("가", "\u{1100}\u{1161}"),
    ]

    @Test(arguments: pairs)
    func `is its bytes`(one: String, other: String) {
        #expect(one == other, "as strings")
        #expect(ExactText(one) != ExactText(other))
        #expect(ExactText(one) == ExactText(String(decoding: Array(one.utf8), as: UTF8.self)))
        #expect(Set([ExactText(one), ExactText(other), ExactText(one)]).count == 2)
        #expect([ExactText(one): 1][ExactText(other)] == nil)
        #expect(!ExactText(one + "x").hasPrefix(ExactText(other)))
        #expect(!ExactText("x" + one).hasSuffix(ExactText(other)))
    }

    @Test func `begins and ends with bytes`() {
        #expect(ExactText("e\u{301}").hasPrefix("e"))
        #expect(ExactText("PRIVATE KEY").hasSuffix(" KEY"))
        #expect(ExactText("").hasPrefix("") && ExactText("").hasSuffix(""))
        #expect(!ExactText("a").hasPrefix("ab") && !ExactText("b").hasSuffix("ab"))
    }

    @Test func `has only ASCII letters made small`() {
        #expect(ExactText("One.EXAMPLE-É\u{212A}").lowercasedASCII == "one.example-É\u{212A}")
    }
}
