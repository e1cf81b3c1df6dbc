import PresenceClient
import Testing

@testable import porchlight

@Suite struct `The line of a message` {
    /// The line of a message, without its time.
    func line(_ message: JSON) -> String {
        MessageLine(style: Style()).line(message).trimmingPrefix("?  ").description
    }

    @Test func `has the sender, its device, the text and the ext`() {
        #expect(line(["body": "lunch?"]) == "the service  “lunch?”")
        #expect(line(["from": "bob", "body": "lunch?"]) == "bob  “lunch?”")
        #expect(
            line(["from": "bob", "fromDevice": "phone", "body": "lunch?", "ext": "{}"])
                == "bob (phone)  “lunch?”  ext “{}”")
        #expect(line(["from": "bob"]) == "bob")
    }

    @Test func `escapes what others have typed`() {
        let message: JSON = [
            "from": "b\u{202e}", "fromDevice": "\u{9b}", "body": "a\n\u{1b}[31m", "ext": "\0",
        ]
        #expect(
            line(message) == "b\\u{202e} (\\u{9b})  “a\\u{a}\\u{1b}[31m”  ext “\\u{0}”")
    }
}

@Suite struct `Messages that were received lately` {
    @Test func `are found by id, and by sender and ref`() {
        var recent = RecentMessages()
        func isNew(_ message: JSON) -> Bool { recent.insert(message) }
        #expect(isNew(["id": "1", "from": "bob"]) && !isNew(["id": "1", "from": "bob"]))
        #expect(isNew(["id": "2", "from": "bob", "ref": "r"]))
        #expect(!isNew(["id": "3", "from": "bob", "ref": "r"]))
        #expect(!isNew(["id": "2", "from": "bob"]))
        #expect(isNew(["id": "4", "from": "carol", "ref": "r"]))
        #expect(isNew(["id": "5", "ref": "r"]) && !isNew(["id": "6", "ref": "r"]))
        // Two encodings of é are two names.
        #expect(isNew(["id": "7", "from": "\u{e9}", "ref": "r"]))
        #expect(isNew(["id": "8", "from": "e\u{301}", "ref": "r"]))
    }

    @Test func `are a thousand`() {
        var recent = RecentMessages()
        func isNew(_ number: Int) -> Bool {
            let text = JSON.string("\(number)")
            return recent.insert(["id": text, "ref": text])
        }
        for number in 0..<1_001 { #expect(isNew(number)) }
        #expect(!isNew(1) && !isNew(1_000))
        #expect(isNew(0))
        #expect(isNew(1))
    }
}
