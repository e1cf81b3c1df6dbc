import Testing

@testable import XML

@Suite struct `Writing XML` {
    private let reader = XMLReader(hashSalt: 1)

    @Test(arguments: [
        "", "a", String(decoding: 0x20...0x7E as ClosedRange<UInt8>, as: UTF8.self),
        "a\tb\nc\rd", "中文 é 😀", "]]>", " x ", "\u{FFFC}\u{FFFD}\u{F000}",
    ])
    func `escapes what a reader would change`(text: String) throws {
        var bytes = Array("<a".utf8)
        bytes.appendXML(attribute: "b", Array(text.utf8))
        bytes.append(literal: ">")
        bytes.appendXML(element: "c", text: Array(text.utf8))
        bytes.append(literal: "</a>")
        let stanza = try reader.stanza(String(decoding: bytes, as: UTF8.self))
        #expect(stanza.attribute("b").map(Array.init) == Array(text.utf8))
        #expect(stanza.first("c", in: "jabber:client")?.text == Array(text.utf8))
    }

    @Test func `escapes whatever could be markup`() {
        var bytes: [UInt8] = []
        bytes.appendXML(attributeValue: Array("a<b>c&d'e\"f\tg\nh\ri".utf8))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "a&lt;b&gt;c&amp;d&apos;e&quot;f&#9;g&#10;h&#13;i")
    }

    @Test(arguments: ["\0", "\u{1}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"])
    func `replaces characters that XML does not have`(character: String) {
        var bytes: [UInt8] = []
        bytes.appendXML(text: Array("a\(character)b\(character)".utf8))
        #expect(String(decoding: bytes, as: UTF8.self) == "a\u{FFFD}b\u{FFFD}")
    }

    @Test func `writes elements again with default namespaces`() throws {
        let stanza = try reader.stanza(
            """
            <message xml:lang='en' to="a"><p:x xmlns:p='u:p' p:a='1' b='2'><p:y/><body>\
            &#60;</body></p:x><z xmlns=''><w></w></z></message>
            """)
        #expect(
            stanza.written == """
                <message xml:lang='en' to='a'><x xmlns='u:p' xmlns:a1='u:p' a1:a='1' b='2'><y/>\
                <body xmlns='jabber:client'>&lt;</body></x><z xmlns=''><w/></z></message>
                """)
    }

    @Test func `writes within a limit or not at all`() throws {
        let stanza = try reader.stanza("<a b='1'><c>text</c></a>")
        let written = stanza.written
        for limit in 0...written.utf8.count {
            var bytes = [UInt8(ascii: "x")]
            let fits = bytes.appendXML(stanza, in: "jabber:client", bytesMax: limit)
            #expect(fits == (limit == written.utf8.count))
            #expect(bytes.count == (fits ? written.utf8.count + 1 : 1))
        }
    }

    /// What is read and written is read as the same.
    @Test(arguments: 0..<200)
    func `keeps the tree of any stanza`(seed: UInt64) throws {
        var random = Random(state: seed)
        var text = ""
        random.appendElement(to: &text, depth: 0)
        let stanza = try reader.stanza(text)
        let tree = stanza.tree
        let written = stanza.written
        let again = try reader.stanza(written)
        #expect(again.tree == tree, "\(text)")
        #expect(again.written == written)
    }
}

/// Makes stanzas. The state is the seed.
private struct Random {
    var state: UInt64

    mutating func below(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % count
    }

    mutating func appendElement(to text: inout String, depth: Int) {
        let prefix = ["", "", "p:", "stream:"][below(4)]
        let name = prefix + ["a", "b", "body", "é"][below(4)]
        text += "<\(name) xmlns:p='u:\(below(3))'"
        if below(3) == 0 { text += " xmlns='\(["", "v", "jabber:client"][below(3)])'" }
        for attribute in ["a", "p:a", "xml:lang", "p:b"] where below(3) == 0 {
            text += " \(attribute)='\(["", "1", "&lt;&#10;", "\"", "中\t"][below(5)])'"
        }
        text += ">"
        for _ in 0..<below(4) {
            switch below(3) {
            case 0 where depth < 5: appendElement(to: &text, depth: depth + 1)
            case 1: text += ["x", "&amp;", "\r\n", "<![CDATA[&<]]>", "😀"][below(5)]
            default: break
            }
        }
        text += "</\(name)>"
    }
}
