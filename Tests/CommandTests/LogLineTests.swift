import Testing

@testable import porchlight

@Suite struct `A line of the log` {
    func line(_ message: String, _ values: [String: String] = [:]) -> String {
        LogLine(
            seconds: 1_763_700_000, level: "warning", label: "porchlight", message: message,
            values: values
        ).text
    }

    @Test func `has time, level, place, message and values, in this order`() {
        let text = line("not delivered", ["times": "3", "name": "crm"])
        let form = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} warning porchlight: not delivered .*/#
        #expect(text.wholeMatch(of: form) != nil, "\(text)")
        #expect(text.hasSuffix("not delivered name=crm times=3"))
    }

    @Test(arguments: [
        ("a b", "\"a b\""), ("", "\"\""), ("a=b", "\"a=b\""), ("say \"x\"", "\"say \\\"x\\\"\""),
        ("a\nb", "a\\u{a}b"), ("\u{1b}[31m", "\\u{1b}[31m"),
    ])
    func `has values that cannot be taken for anything else`(value: String, shown: String) {
        #expect(line("m", ["why": value]).hasSuffix("m why=\(shown)"))
    }

    @Test func `is one line`() {
        #expect(!line("a\nb", ["c": "d\ne"]).contains("\n"))
    }
}
