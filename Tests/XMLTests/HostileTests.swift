import Testing

@testable import XML

/// What a client sends to cost the service more than itself.
@Suite struct `A hostile stream` {
    /// Feeds bytes in pieces until they are rejected; the memory that was kept of them at most.
    private func feed(
        _ text: String, in pieces: Int, bytesMax: Int = 10_000
    ) -> (outcome: StreamPart, bytesKept: Int, bytesRead: Int) {
        var splitter = StanzaSplitter()
        var most = 0
        var bytesRead = 0
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let chunk = Array(bytes[start..<min(start + pieces, bytes.count)])
            var offset = 0
            var part: StreamPart
            repeat {
                part = splitter.next(in: chunk.span.bytes, from: &offset, bytesMax: bytesMax)
                most = max(most, splitter.bytesAllocated)
            } while part != .needMore && !isRejected(part)
            bytesRead += offset
            if isRejected(part) { return (part, most, bytesRead) }
        }
        return (.needMore, most, bytesRead)
    }

    private func isRejected(_ part: StreamPart) -> Bool {
        if case .rejected = part { true } else { false }
    }

    @Test(arguments: [1, 7, 1_000, 65_536])
    func `is rejected where its depth or size is too much`(pieces: Int) {
        let deep = feed(
            header + String(repeating: "<a>", count: 100_000), in: pieces, bytesMax: 262_144)
        #expect(deep.outcome == .rejected(.limit(.depth)))
        #expect(deep.bytesRead <= header.utf8.count + 1_025 * 3)
        let attribute = feed(
            header + "<a b='" + String(repeating: "c", count: 100_000), in: pieces)
        #expect(attribute.outcome == .rejected(.limit(.bytes)))
        #expect(attribute.bytesRead == header.utf8.count + 10_001)
        #expect(attribute.bytesKept <= 2 * 10_000)
        let endless = feed(String(repeating: "a", count: 10), in: pieces)
        #expect(endless.outcome == .rejected(.notWellFormed))
    }

    @Test(arguments: [1, 65_536])
    func `has no entities to expand`(pieces: Int) {
        let bomb = """
            <?xml version='1.0'?><!DOCTYPE lolz [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;&a;'>\
            <!ENTITY c '&b;&b;&b;&b;'>]><stream>&c;
            """
        let outcome = feed(bomb, in: pieces)
        #expect(outcome.outcome == .rejected(.restricted))
        #expect(outcome.bytesRead == "<?xml version='1.0'?><!D".utf8.count)
    }

    @Test func `keeps nothing of any amount of white space`() {
        let outcome = feed(header + String(repeating: " \n", count: 100_000), in: 1_000)
        #expect(outcome.outcome == .needMore)
        #expect(outcome.bytesKept == 0)
    }

    @Test func `leaves a reader with little memory`() throws {
        let reader = XMLReader(hashSalt: 1)
        let large = String(
            repeating: "<b c='\(String(repeating: "d", count: 4_000))'/>", count: 60)
        _ = try reader.stanza("<a>\(large)</a>")
        let small = try reader.stanza("<a/>")
        #expect(small.document.bytesAllocated <= 1_024)
    }

    @Test func `does not write much more than it was`() throws {
        let reader = XMLReader(hashSalt: 1)
        let namespace = String(repeating: "n", count: 256)
        let text =
            "<a xmlns:p='\(namespace)'>" + String(repeating: "<b><p:c/></b>", count: 500) + "</a>"
        let stanza = try reader.stanza(text)
        var bytes: [UInt8] = []
        let fits = bytes.appendXML(stanza, in: "jabber:client", bytesMax: 4_096)
        #expect(!fits && bytes.isEmpty)
        #expect(bytes.capacity <= 4 * 4_096)
    }
}

extension XMLDocument {
    /// Bytes of memory in use.
    fileprivate var bytesAllocated: Int {
        bytes.capacity + nodes.capacity * MemoryLayout<XMLTree.Node>.stride
            + attributes.capacity * MemoryLayout<XMLTree.Attribute>.stride
            + namespaces.capacity * MemoryLayout<XMLTree.ByteRange>.stride
    }
}
