import Containers
import Testing

@testable import XML

@Suite struct `An XML reader` {
    private let reader = XMLReader(hashSalt: 1)

    @Test func `reads elements, attributes and text`() throws {
        let stanza = try reader.stanza(
            "<iq type='get' id=\"1&amp;2\"><q xmlns='x:y' a='b'>1<b/>2</q><stream:e/></iq>")
        #expect(stanza.isNamed("iq", in: "jabber:client"))
        #expect(stanza.attribute("id").map(Array.init) == Array("1&2".utf8))
        #expect(stanza.attribute("to") == nil)
        let query = try #require(stanza.first("q", in: "x:y"))
        #expect(query.text == Array("12".utf8))
        #expect(query.first("b", in: "x:y")?.isEmpty == true)
        #expect(query.first("b", in: "jabber:client") == nil)
        #expect(stanza.first("e", in: "http://etherx.jabber.org/streams") != nil)
        #expect(stanza.elements.map { String(decoding: $0.name, as: UTF8.self) } == ["q", "e"])
    }

    @Test func `makes one text of lines, references and sections`() throws {
        let stanza = try reader.stanza("<a>1\r\n&lt;&#x4e2d;<![CDATA[<b>]]>&quot;</a>")
        #expect(stanza.children.map { _ in 1 } == [1])
        #expect(stanza.text == Array("1\n<中<b>\"".utf8))
    }

    @Test func `reads stanzas in the namespaces of the header`() throws {
        let header = try reader.header(
            """
            <?xml version="1.0" encoding='UTF-8'?>
            <s:stream to='a' xmlns='jabber:client' xmlns:x='u:&amp;' xml:lang='de' \
            xmlns:s='http://etherx.jabber.org/streams'>
            """)
        #expect(header.element.isNamed("stream", in: "http://etherx.jabber.org/streams"))
        #expect(header.contentNamespace == Array("jabber:client".utf8))
        let lang = header.element.attribute("lang", in: "http://www.w3.org/XML/1998/namespace")
        #expect(lang.map(Array.init) == Array("de".utf8))
        #expect(header.scope != .standard)
        let stanza = try reader.stanza("<a><x:b/><s:c/></a>", in: header.scope)
        #expect(stanza.first("b", in: "u:&") != nil)
        #expect(throws: XMLError.notWellFormed) { try reader.stanza("<a><x:b/></a>") }
    }

    @Test func `knows the prefix of streams wherever a stanza has it`() throws {
        let streams = "http://etherx.jabber.org/streams"
        let stanza = try reader.stanza(
            "<stream:a stream:b='1'><c/><stream:d>e</stream:d></stream:a>")
        #expect(stanza.isNamed("a", in: "http://etherx.jabber.org/streams"))
        #expect(stanza.attribute("b", in: "http://etherx.jabber.org/streams") != nil)
        #expect(stanza.first("c", in: "jabber:client") != nil)
        #expect(stanza.first("d", in: "http://etherx.jabber.org/streams")?.text == [0x65])
        // Neither a text nor a declaration of the same name changes what others are.
        for text in ["<a>stream:</a>", "<a b='upstream:'/>", "<a xmlns:stream='u'/>"] {
            #expect(try reader.stanza(text).isNamed("a", in: "jabber:client"))
        }
        #expect(try reader.stanza("<stream:a xmlns:stream='u'/>").isNamed("a", in: "u"))
        #expect(
            try reader.stanza("<a xmlns:s='\(streams)'><s:b/></a>").elements.map(\.namespace)
                == [ArraySlice(streams.utf8)])
        for text in ["<Stream:a/>", "<upstream:a/>", "<eam:a/>", "<:a/>"] {
            #expect(throws: XMLError.self) { try reader.stanza(text) }
        }
    }

    @Test func `keeps nothing of the declarations that most streams have`() throws {
        for order in [
            "xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'",
            "xmlns:stream='http://etherx.jabber.org/streams' xmlns='jabber:client'",
        ] {
            #expect(try reader.header("<stream:stream \(order)>").scope == .standard)
        }
        #expect(try reader.header("<stream xmlns='jabber:client'>").scope != .standard)
    }

    @Test(arguments: [
        "<a", "<a>", "<a></b>", "<a/><b/>", " <a/>", "<a/> ", "<a/>x", "</s>", "<a/></s>", "",
        "<a>&#0;</a>", "<a>&#xFFFE;</a>", "<a>&#xD800;</a>", "<a>\u{FFFE}</a>", "<a>]]></a>",
        "<a b='1' b='2'/>", "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", "<p:a/>",
        "<a p:b='1'/>", "<a b=1/>", "<a b/>", "<a b='1'c='2'/>", "<a xmlns:p=''/>",
        "<a:b:c xmlns:a='u'/>", "<a xmlns:xml='u'/>", "<a>&</a>", "<a>\u{1}</a>", "<1/>",
        "<a><![CDATA[</a>",
    ])
    func `rejects what is not one well-formed element`(text: String) {
        #expect(throws: XMLError.self) { try reader.stanza(text) }
        // And goes on.
        #expect(throws: Never.self) { try reader.stanza("<a/>") }
    }

    @Test(arguments: [
        "<a>&nbsp;</a>", "<a b='&x;'/>", "<a><!-- --></a>", "<a><?p?></a>", "<!--x--><a/>",
    ])
    func `rejects what streams must not have`(text: String) {
        #expect(throws: XMLError.restricted) { try reader.stanza(text) }
    }

    @Test(
        arguments: [
            [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xE4, 0xB8],
            [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
        ] as [[UInt8]])
    func `rejects what is not UTF-8, in text, names and values`(bytes: [UInt8]) {
        for (before, after) in [("<a>", "</a>"), ("<a", "/>"), ("<a b='", "'/>")] {
            let stanza = Array(before.utf8) + bytes + Array(after.utf8)
            #expect(throws: XMLError.notWellFormed) {
                try reader.readStanza(stanza.span.bytes, in: .standard)
            }
        }
    }

    @Test(arguments: [
        ("<!DOCTYPE s [<!ENTITY a 'b'>]><s>", XMLError.restricted),
        ("<?xml version='1.0' encoding='UTF-16'?><s>", .unsupportedEncoding),
        ("<?xml version='1.0' encoding='latin1'?><s>", .unsupportedEncoding),
        ("<?xml version='1.1'?><s>", .notWellFormed), ("<s/>", .badFormat),
        ("<s><a>", .notWellFormed), ("<s>x", .notWellFormed), ("<s> ", .notWellFormed),
        ("<s", .notWellFormed), ("", .notWellFormed), ("<p:s>", .notWellFormed),
    ])
    func `rejects other headers`(text: String, error: XMLError) {
        #expect(throws: error) { try reader.header(text) }
        #expect(throws: Never.self) { try reader.header(header) }
    }

    @Test func `holds the limits exactly`() throws {
        func check(_ limit: XMLLimit, _ max: Int, _ make: (Int) -> String) {
            #expect(throws: Never.self) { try reader.stanza(make(max)) }
            #expect(throws: XMLError.limit(limit)) { try reader.stanza(make(max + 1)) }
        }
        func repeated(_ count: Int, _ each: (Int) -> String) -> String {
            (0..<count).map(each).joined()
        }
        check(.nameBytes, 128) { "<\(repeated($0) { _ in "a" })/>" }
        check(.nameBytes, 256) { "<a xmlns='\(repeated($0) { _ in "u" })'/>" }
        check(.nodes, 1_024) { "<a>\(repeated($0 - 1) { _ in "<b/>" })</a>" }
    }

    @Test func `keeps of the outermost element what stanzas have`() throws {
        let id = String(repeating: "i", count: 5_000)
        let others = (0..<40).map { " b\($0)='1'" }.joined()
        let declarations = (0..<40).map { " xmlns:c\($0)='u'" }.joined()
        let name = String(repeating: "n", count: 129)
        let text =
            "<a\(declarations)\(others) \(name)='' to='x' xml:lang='de' id='\(id)'>"
            + "<b c='1'/></a>"
        let stanza = try reader.stanza(text)
        #expect(!stanza.isOfIncompleteStanza)
        #expect(stanza.attribute("id")?.elementsEqual(id.utf8) == true)
        #expect(stanza.attribute("to")?.isEqual(to: "x") == true)
        #expect(Array(stanza.attributes).count == 35)
        #expect(stanza.elements.map(\.written) == ["<b c='1'/>"])
    }

    @Test func `leaves out of inner elements what is above the limits`() throws {
        func check(_ max: Int, _ make: (Int) -> String) throws {
            let whole = try reader.stanza("<a>\(make(max))</a>")
            #expect(!whole.isOfIncompleteStanza && whole.written != "")
            // The other elements, and the stanza's own, are complete.
            let stanza = try reader.stanza("<a b='1'>\(make(max + 1))<c d='1'>e</c></a>")
            #expect(stanza.isOfIncompleteStanza && stanza.written == "")
            #expect(stanza.attribute("b")?.isEqual(to: "1") == true)
            #expect(Array(stanza.elements).count == 2)
            let last = try #require(stanza.first("c", in: "jabber:client"))
            #expect(last.written == "<c d='1'>e</c>")
            #expect(stanza.elements.map(\.written).contains(""))
        }
        func repeated(_ count: Int, _ each: (Int) -> String) -> String {
            (0..<count).map(each).joined()
        }
        try check(31) { repeated($0) { _ in "<x>" } + repeated($0) { _ in "</x>" } }
        try check(1_022) { "<x>\(repeated($0) { _ in "<b/>" })</x>" }
        try check(511) { "<x>\(repeated($0) { _ in "1<b/>" })</x>" }
        try check(32) { "<x\(repeated($0) { " b\($0)='1'" })/>" }
        try check(32) { "<x\(repeated($0) { " xmlns:b\($0)='u'" })/>" }
        try check(128) { "<\(repeated($0) { _ in "x" })/>" }
        try check(128) { "<x \(repeated($0) { _ in "b" })=''/>" }
        try check(256) { "<x xmlns='\(repeated($0) { _ in "u" })'/>" }
        try check(256) { "<x xmlns:p='\(repeated($0) { _ in "u" })' p:b=''/>" }
        try check(4_096) { "<x b='\(repeated($0) { _ in "a" })'/>" }
        try check(4_096) { "<x><y b='\(repeated($0) { _ in "a" })'/></x>" }
        // That of the stream is one of them.
        try check(16) { "<x>\(repeated($0 - 1) { "<b xmlns='\($0)'/>" })</x>" }
    }

    @Test(arguments: ["<xml:a/>", "<a><xml:b c='1'/></a>"])
    func `rejects elements in the namespace of xml`(text: String) {
        #expect(throws: XMLError.namespace) { try reader.stanza(text) }
    }

    /// Readers of other clients reject them, and would end their streams.
    @Test(arguments: [
        "<a xmlns='u v'/>", "<a><b xmlns='u}v'/></a>",
        "<a><p:b xmlns:p='u|v'/></a>", "<a xmlns:p='é' p:b='1'/>", "<a xmlns='u%20v'/>",
        "<a xmlns='http://[::1]/'/>", "<a xmlns='u&#10;v'/>", "<a xmlns='&lt;'/>",
        "<a xmlns='我的应用'/>",
    ])
    func `reads namespaces that are not written again`(text: String) throws {
        #expect(try reader.stanza(text).written == "")
    }

    @Test(arguments: [
        "<a xml:lang='en'/>", "<a xmlns=''/>", "<a xmlns='urn:xmpp:jingle:apps:rtp:1'/>",
        "<a xmlns='http://jabber.org/protocol/muc#user'/>", "<a xmlns='jabber:x:data'/>",
        "<a xmlns='vcard-temp:x:update'/>", "<a xmlns:p='u v'/>",
    ])
    func `takes namespaces of XMPP`(text: String) {
        #expect(throws: Never.self) { try reader.stanza(text) }
    }

    @Test func `reads any number of the five entities and of references`() throws {
        for reference in ["&lt;", "&gt;", "&amp;", "&apos;", "&quot;", "&#60;", "&#x3c;"] {
            let all = String(repeating: reference, count: 4_000)
            let stanza = try reader.stanza("<a b='\(all)'>\(all)</a>")
            #expect(stanza.text.count == 4_000)
            #expect(stanza.attribute("b")?.count == 4_000)
        }
    }

    @Test func `has only one stanza at a time`() throws {
        let first = try reader.stanza("<a>long text</a>")
        let text = first.text
        _ = try reader.stanza("<b/>")
        #expect(text == Array("long text".utf8))
    }

    @Test func `reads stanzas in the largest header`() throws {
        func header(_ spare: Int) -> String {
            let names = (0..<3).map { "xmlns:p\($0)='\(String(repeating: "u", count: 250))\($0)'" }
            let last = String(repeating: "v", count: 161 + spare)
            return "<stream:stream xmlns='u:v' xmlns:stream='http://etherx.jabber.org/streams' "
                + names.joined(separator: " ") + " xmlns:q='\(last)'>"
        }
        let scope = try reader.header(header(0)).scope
        #expect(throws: XMLError.limit(.headerBytes)) { try reader.header(header(1)) }
        for number in 0..<20 {
            let stanza = try reader.stanza("<p2:a b='\(number)'>\(number)</p2:a>", in: scope)
            #expect(stanza.namespace.count == 251)
            #expect(stanza.text == Array("\(number)".utf8))
            #expect(try reader.stanza("<a>\(number)</a>").text == Array("\(number)".utf8))
        }
    }

    /// Written again, each apostrophe has six bytes: such a header was read for each stanza.
    @Test func `rejects headers that are long when they are written again`() {
        let declarations = (0..<8).map {
            "xmlns:p\($0)=\"\(String(repeating: "'", count: 25))\($0)\""
        }
        let text = "<stream:stream xmlns='u:v' " + declarations.joined(separator: " ") + ">"
        #expect(throws: XMLError.limit(.headerBytes)) {
            try reader.header(text.replacing("<stream:stream", with: "<stream"))
        }
    }

    @Test func `reads each stanza as if it were the first`() throws {
        let texts = [
            "<a/>", "<a><b xmlns='x:y' c='1'/></a>", "<x:a xmlns:x='x:y' x:c='1' c='2'/>",
            "<stream:a/>", "<a>1 &lt; 2</a>", "<a b='1' b='2'/>", "<x:a/>", "<a></b>", "<a>",
            "</a>",
            "<a/><b/>", "<a/> 1", "1<a/>", "<?xml version='1.0'?><a/>", "<!--1--><a/>",
            "<!DOCTYPE a><a/>", "<a>&b;</a>", "<a b='&#0;'/>", "<?a?><a/>", "",
            "<a>" + String(repeating: "1", count: 9_000) + "</a>", "</s><s>", "</s>",
        ]
        let other = try reader.header(
            "<stream:stream xmlns='u:v' xmlns:stream='http://etherx.jabber.org/streams'>"
        ).scope
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<3_000 {
            let text = texts[Int.random(in: texts.indices, using: &random)]
            let isFirst = Int.random(in: 0..<10, using: &random) == 0
            let scope = isFirst ? other : StreamScope.standard
            let fresh = XMLReader(hashSalt: 1)
            #expect(outcome(text, scope, reader) == outcome(text, scope, fresh), "\(text)")
        }
    }

    @Test func `reads each header as if it were the first`() throws {
        let standard = "xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'"
        let texts =
            ["", " to='a'", " to='b'", " from='c' to='a'", " version='1.0'", " x='1'"].map {
                "<stream:stream \(standard)\($0)>"
            } + [
                "<stream:stream \(standard) to='\(String(repeating: "a", count: 300))'>",
                "<?xml version='1.0'?><stream:stream \(standard)>", "<s xmlns='u'>", "<s><t>",
                "<s/>",
                "<stream:stream \(standard)", "",
            ]
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let text = texts[Int.random(in: texts.indices, using: &random)]
            #expect(
                headerOutcome(text, reader) == headerOutcome(text, XMLReader(hashSalt: 1)),
                "\(text)")
        }
    }

    @Test func `keeps few headers, and none of one account`() throws {
        var known = KnownHeaders()
        func isKnown(_ text: String) -> Bool {
            known.header(of: Array(text.utf8).span.bytes) != nil
        }
        func add(_ text: String) throws {
            let header = try reader.header(text)
            known.add(header, of: Array(text.utf8).span.bytes)
        }
        for number in 0..<6 { try add("<s to='\(number)'>") }
        #expect(
            (0..<6).map { isKnown("<s to='\($0)'>") } == [false, false, true, true, true, true])
        try add("<s from='a'>")
        try add("<s to='\(String(repeating: "a", count: 250))'>")
        #expect(!isKnown("<s from='a'>") && isKnown("<s to='2'>") && !isKnown("<s to='2' >"))
    }

    private func headerOutcome(_ text: String, _ reader: XMLReader) -> Result<[String], XMLError> {
        Result { () throws(XMLError) in
            let header = try reader.header(text)
            return ["\(header.element.tree)", "\(header.contentNamespace)", "\(header.scope)"]
        }
    }

    private func outcome(
        _ text: String, _ scope: StreamScope, _ reader: XMLReader
    ) -> Result<Tree, XMLError> {
        Result { () throws(XMLError) in try reader.stanza(text, in: scope).tree }
    }

    @Test func `reads a message behind a declaration`() throws {
        for declaration in [
            "<?xml version='1.0'?>", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        ] {
            let message = Array("\(declaration)<a xmlns='u'>1</a> ".utf8)
            let element = try unsafe reader.readMessage(message.span.bytes, bytesMax: 1_000)
            #expect(element.text == Array("1".utf8))
        }
        for (text, error) in [
            ("<?xml version='1.0' encoding='latin1'?><a/>", XMLError.unsupportedEncoding),
            ("<?xml version='1.0'?>", .notOneElement), ("<?xml version='1.0'", .notWellFormed),
            ("<?xml version='1.0'?>x<a/>", .badFormat), ("<?xmlx?><a/>", .restricted),
            ("<a/><?xml version='1.0'?>", .notOneElement),
        ] {
            let message = Array(text.utf8)
            #expect(throws: error) {
                try unsafe reader.readMessage(message.span.bytes, bytesMax: 1_000)
            }
        }
    }
}
