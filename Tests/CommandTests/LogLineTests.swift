import Logging
import PresenceClient
import Testing

@testable import porchlight

private func logLine(_ message: String, _ values: [String: LogLine.Value] = [:]) -> LogLine {
    LogLine(
        milliseconds: 1_763_700_000_042, level: "warning", label: "porchlight", message: message,
        values: values)
}

@Suite struct `A line of the log` {
    func line(_ message: String, _ values: [String: String] = [:]) -> String {
        logLine(message, values.mapValues { .text($0) }).text
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

    @Test func `shows numbers and booleans as they are`() {
        let text = logLine("m", ["b": .isTrue(true), "a": .number("-3")]).text
        #expect(text.hasSuffix("m a=-3 b=true"))
    }
}

@Suite struct `A line of the log as JSON` {
    func parsed(
        _ message: String, _ values: [String: LogLine.Value] = [:], bytesMax: Int = 4_095
    ) throws -> JSON {
        try JSON(parsing: logLine(message, values).json(bytesMax: bytesMax))
    }

    @Test func `has time, level, message and values, in this order`() {
        let line = logLine(
            "not delivered",
            ["times": .number("3"), "name": .text("crm"), "again": .isTrue(false)])
        #expect(
            String(decoding: line.json(bytesMax: 4_095), as: UTF8.self)
                == #"{"time":"2025-11-21T04:40:00.042Z","level":"warning","#
                + #""message":"not delivered","again":false,"name":"crm","times":3}"#)
    }

    @Test func `has every character as it was, and none that a terminal obeys`() throws {
        let others: [Unicode.Scalar] = ["\u{FEFF}", "\u{E0001}", "\u{1F600}"]
        for scalar in (0...0x2FFF).compactMap({ Unicode.Scalar(UInt32($0)) }) + others {
            let text = "a" + String(scalar) + "b"
            let line = logLine(text, ["v": .text(text), text: .text("n")]).json(bytesMax: 4_095)
            let shown = String(decoding: line, as: UTF8.self)
            #expect(visible(shown) == shown, "\(scalar.value)")
            let value = try JSON(parsing: line)
            for member in ["message", "v"] {
                // Strings that are only equivalent have other bytes.
                #expect(value[member]?.string.map { Array($0.utf8) } == Array(text.utf8))
            }
            #expect(value[text]?.string == "n")
        }
    }

    @Test func `is JSON at every length, and as long as it may be`() throws {
        for text in ["x", "é", "\u{1B}", "\u{E0001}", "\"", "😀"] {
            let long = String(repeating: text, count: 300)
            for bytesMax in 256...300 {
                let values: [String: LogLine.Value] = [
                    "a": .text("short"), "count": .number("1234567890"), "why": .text(long),
                ]
                for message in ["short", long] {
                    let line = logLine(message, values).json(bytesMax: bytesMax)
                    #expect(line.count <= bytesMax)
                    #expect(line.count > bytesMax - 40)
                    let value = try JSON(parsing: line)
                    #expect(value["level"]?.string == "warning")
                    #expect(value["count"] == nil || value["count"]?.integer == 1_234_567_890)
                    let cut = value["message"]?.string == "short" ? value["why"] : value["message"]
                    #expect(cut == nil || cut?.string?.hasSuffix("…") == true)
                }
            }
        }
    }

    @Test func `has each member once`() throws {
        let value = try parsed("m", ["time": .text("t"), "message": .number("1")])
        #expect(value["message"]?.string == "m")
        #expect(value["time_"]?.string == "t" && value["message_"]?.integer == 1)
    }

    @Test func `has numbers and booleans that were logged as such, and no others`() {
        func json(_ value: LogLine.Value) -> String {
            let line = logLine("m", ["v": value]).json(bytesMax: 4_095)
            let parts = String(decoding: line, as: UTF8.self).split(separator: "\"v\":")
            return String(parts[1].dropLast())
        }
        #expect(json(.init(.stringConvertible(3))) == "3")
        #expect(json(.init(.stringConvertible(CInt(-15)))) == "-15")
        #expect(json(.init(.stringConvertible(UInt64.max))) == "18446744073709551615")
        #expect(json(.init(.stringConvertible(0.5))) == "0.5")
        #expect(json(.init(.stringConvertible(Double.nan))) == "\"nan\"")
        #expect(json(.init(.stringConvertible(true))) == "true")
        #expect(json(.init(.string("007"))) == "\"007\"")
        #expect(json(.init(.string("true"))) == "\"true\"")
        #expect(json(.init(.stringConvertible("1"))) == "\"1\"")
    }
}
