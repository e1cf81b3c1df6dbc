import Testing

@testable import PresenceWire

@Suite struct `Another protocol on the native port` {
    /// What a splitter makes of the first bytes of a connection.
    private func outcome(_ bytes: [UInt8], bodyBytesMax: Int = 67_108_864) -> InputOutcome {
        var splitter = InputSplitter()
        var offset = 0
        var body: [UInt8] = []
        return splitter.next(
            in: bytes.span.bytes, from: &offset, bodyBytesMax: bodyBytesMax, body: &body)
    }

    private func outcome(_ text: String) -> InputOutcome { outcome(Array(text.utf8)) }

    @Test(arguments: [
        "PUT /", "POST /", "HEAD /", "DELETE /", "OPTIONS *", "PATCH /", "TRACE /", "CONNECT a:1",
        "GETX / HTTP/1.1",
    ])
    func `is HTTP by its first four bytes, which no frame begins with`(request: String) {
        #expect(outcome(request) == .violation(.request(.method)))
    }

    @Test func `may be HTTP/2`() {
        #expect(outcome("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == .violation(.request(.httpVersion)))
    }

    @Test(
        arguments: [
            ("{\"jsonrpc\"", .json), ("<?xml version='1.0'?>", .xmpp), ("<stream:stream", .xmpp),
            ("PROXY TCP4 192.0.2.1", .proxyHeader), ("\r\n\r\n\0\r\nQUIT\n", .proxyHeader),
            ("\u{10}\u{c}\0\u{4}MQTT", .mqtt), ("d\0\0\0{", .littleEndian),
            ("\u{10}\u{1}\0\0{", .littleEndian), ("\0\0\0\u{1}", nil),
        ] as [(String, ForeignProtocol?)])
    func `is known by its beginning`(text: String, foreign: ForeignProtocol?) {
        let expected = foreign.map { InputOutcome.violation(.foreign($0)) } ?? .needMore
        #expect(outcome(text) == expected)
    }

    @Test(arguments: [
        (1, true), (100, true), (16_383, true), (16_384, false), (16_385, false),
        (0x100_0001, false),
    ])
    func `has a little-endian length only where that is one of a frame`(
        length: Int, isLength: Bool
    ) {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        let expected: InputViolation = isLength ? .foreign(.littleEndian) : .frame
        // The first byte of 16,384 is 0: it may as well be a long frame.
        #expect(outcome(bytes, bodyBytesMax: 16_384) == .violation(expected))
    }

    @Test(arguments: ["get /", "PUTX", " GET", "[1,2", "\u{16}\u{3}\u{1}\u{2}"])
    func `is nothing else`(text: String) {
        #expect(outcome(text) == .violation(.frame))
    }

    @Test func `is told what would be right`() {
        let sentences = ForeignProtocol.allCases.map(\.sentence.description)
        #expect(
            sentences == [
                "This is JSON without a frame: send a 4-byte length, big-endian, before each "
                    + "object. Line ends do not separate them.",
                "The length of the frame is little-endian: send a 4-byte length, big-endian.",
                "This port does not speak XMPP: connect to the address of the setting "
                    + "xmpp-listen. Here, frames have a 4-byte length, big-endian.",
                "This port does not speak MQTT, nor does another of this service: use the native "
                    + "protocol or a WebSocket.",
                "This listener does not expect a PROXY header: turn off proxy-protocol for it in "
                    + "your proxies.",
            ])
        #expect(sentences.allSatisfy { !$0.contains("\"") && !$0.contains("\\") })
    }

    @Test func `is told the address of the HTTP API`() {
        var bytes: [UInt8] = []
        bytes.appendAnswer(UpgradeError.path)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(text.contains("--http"))
    }
}
