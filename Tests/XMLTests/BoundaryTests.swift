import Testing

@testable import XML

@Suite struct `Boundaries of a stream` {
    @Test func `are the header, stanzas, white space and the end`() {
        let stream = """
            <?xml version='1.0'?> \(header)<a/> <b c='>/"' d="'"><b><![CDATA[</b>]]]></b></b>\
            \n<a></a></stream:stream>
            """
        #expect(
            parts(stream) == [
                .header("<?xml version='1.0'?> \(header)"), .stanza("<a/>"), .whiteSpace,
                .stanza("<b c='>/\"' d=\"'\"><b><![CDATA[</b>]]]></b></b>"), .whiteSpace,
                .stanza("<a></a>"), .streamEnd,
            ])
    }

    @Test(arguments: [false, true])
    func `are the same in whatever pieces a stream arrives`(pausing: Bool) {
        let stream = Array(
            "  <?xml version='1.0'?>\n<s a='1'> <a b='<'/>".utf8)
        let whole = parts([stream])
        let streams = [
            stream, Array("<s><a>x<![CDATA[ ]]>]]></a>\n <b/><!--".utf8),
            Array("\(header)<a><b c=\"d>\"/>é</a></s><x>".utf8),
        ]
        #expect(whole.last == .rejected(.notWellFormed))
        for stream in streams {
            let whole = parts([stream], pausing: pausing)
            #expect(parts(stream.map { [$0] }, pausing: pausing) == whole)
            for cut in stream.indices {
                let pieces = [Array(stream[..<cut]), Array(stream[cut...])]
                #expect(parts(pieces, pausing: pausing) == whole)
            }
        }
    }

    @Test(arguments: [
        ("<!DOCTYPE s>", XMLError.restricted), ("<!-- -->", .restricted),
        ("<?xml version='1.0'?><?p?>", .restricted), ("<?xmlx?>", .restricted),
        ("<?p?>", .restricted), ("\u{FEFF}\u{FEFF}<s>", .notWellFormed),
        ("\u{FEFE}<s>", .notWellFormed), ("<s>\u{FEFF}<a/>", .badFormat),
        ("<?xml version='1.0'?>\u{FEFF}<s>", .notWellFormed),
        ("\0<\0s", .unsupportedEncoding), ("x", .notWellFormed), ("</s>", .notWellFormed),
        ("<s/>", .badFormat), ("< s>", .notWellFormed), ("<s <", .notWellFormed),
        ("<s><!--", .restricted), ("<s><?p", .restricted), ("<s>x", .badFormat),
        ("<s><![CDATA[x]]>", .restricted), ("<s><a><![CDAT!", .restricted),
        ("<s><a b='<", .notWellFormed), ("<s><a></a ' >", .notWellFormed),
        ("<s><a/ >", .notWellFormed), ("<s><a>\u{1}", .notWellFormed),
        ("<s><a>\0", .notWellFormed), ("<s><stream:stream ", .secondHeader),
        ("<stream:stream><a/><stream:stream>", .secondHeader),
    ])
    func `are not looked for behind what streams must not have`(text: String, error: XMLError) {
        #expect(parts(text).last == .rejected(error))
    }

    @Test(arguments: [
        "<stream:a/>", "<stream:stream/>", "<stream:streams></stream:streams>", "<stream/>",
        "<s></s>", "<a><stream:stream a='b'></stream:stream></a>", "<stream:\n></stream:>",
    ])
    func `are found whatever their names begin with`(stanza: String) {
        let stream = "<s>" + stanza
        for pieces in [[Array(stream.utf8)], stream.utf8.map { [$0] }] {
            #expect(parts(pieces) == [.header("<s>"), .stanza(stanza)])
        }
    }

    @Test(arguments: ["", "<?xml version='1.0'?>\n"])
    func `begin behind a byte order mark`(declaration: String) throws {
        let stream = "\u{FEFF}\(declaration)\(header)<a/>"
        for pieces in [[Array(stream.utf8)], stream.utf8.map { [$0] }] {
            #expect(
                parts(pieces) == [.header("\u{FEFF}\(declaration)\(header)"), .stanza("<a/>")])
        }
        let read = try XMLReader(hashSalt: 1).header("\u{FEFF}\(declaration)\(header)")
        #expect(read.scope == .standard)
    }

    @Test(arguments: [[0xFF, 0xFE], [0xFE, 0xFF], [0x3C, 0x00]] as [[UInt8]])
    func `are not looked for in UTF-16`(bytes: [UInt8]) {
        #expect(parts([bytes]) == [.rejected(.unsupportedEncoding)])
    }

    @Test(arguments: [0xC0, 0xC1, 0xF5, 0xFF, 0x0B] as [UInt8])
    func `are not looked for behind bytes that UTF-8 does not have`(byte: UInt8) {
        let bytes = Array("<s><a>".utf8) + [byte]
        #expect(parts([bytes]).last == .rejected(.notWellFormed))
    }

    @Test func `are within the limit of bytes`() {
        let stanza = "<a b='0123456789'/>"
        #expect(parts("<s>" + stanza, bytesMax: stanza.utf8.count).last == .stanza(stanza))
        #expect(
            parts("<s>" + stanza, bytesMax: stanza.utf8.count - 1).last == .rejected(.limit(.bytes))
        )
        // White space is not part of a stanza.
        #expect(
            parts("<s>     \(stanza)", bytesMax: stanza.utf8.count).last == .stanza(stanza))
    }

    @Test func `are within the limit of depth`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(parts("<s>" + nested(1_024)).last == .stanza(nested(1_024)))
        #expect(parts("<s>" + nested(1_025)).last == .rejected(.limit(.depth)))
    }

    @Test func `cost few bytes a connection`() {
        #expect(MemoryLayout<StanzaBoundaryFinder>.stride <= 16)
        #expect(MemoryLayout<StanzaSplitter>.stride <= 40)
    }

    @Test func `need no memory at rest`() {
        var splitter = StanzaSplitter()
        let first = Array("<s><a>".utf8)
        var offset = 0
        #expect(
            splitter.next(in: first.span.bytes, from: &offset, bytesMax: 100)
                == .header(.inChunk(0..<3)))
        #expect(splitter.next(in: first.span.bytes, from: &offset, bytesMax: 100) == .needMore)
        #expect(splitter.bytesBuffered == 3)
        #expect(splitter.isInPart)
        let second = Array("</a>".utf8)
        offset = 0
        #expect(
            splitter.next(in: second.span.bytes, from: &offset, bytesMax: 100)
                == .stanza(.kept(0..<7)))
        #expect(splitter.next(in: second.span.bytes, from: &offset, bytesMax: 100) == .needMore)
        #expect(splitter.bytesAllocated == 0)
        #expect(!splitter.isInPart)
    }

    @Test func `begin again with another stream on the same connection`() {
        var splitter = StanzaSplitter()
        let bytes = Array("<s><a/><s><b/>".utf8)
        var offset = 0
        var found: [StreamPart] = []
        for _ in 0..<2 {
            found.append(splitter.next(in: bytes.span.bytes, from: &offset, bytesMax: 100))
        }
        splitter.keep(bytes.span.bytes, from: &offset)
        splitter.restart()
        offset = 0
        for _ in 0..<2 {
            found.append(splitter.next(in: RawSpan(), from: &offset, bytesMax: 100))
        }
        #expect(
            found == [
                .header(.inChunk(0..<3)), .stanza(.inChunk(3..<7)), .header(.kept(0..<3)),
                .stanza(.kept(3..<7)),
            ])
    }
}
