import Testing

@testable import PresenceWire

@Suite struct `HTTP on the native port` {
    /// What a splitter makes of the first bytes of a connection.
    private func outcome(_ text: String) -> InputOutcome {
        var splitter = InputSplitter()
        var offset = 0
        var body: [UInt8] = []
        let bytes = Array(text.utf8)
        return splitter.next(
            in: bytes.span.bytes, from: &offset, bodyBytesMax: 67_108_864, body: &body)
    }

    @Test(arguments: [
        "PUT /", "POST /", "HEAD /", "DELETE /", "OPTIONS *", "PATCH /", "TRACE /", "CONNECT a:1",
        "GETX / HTTP/1.1",
    ])
    func `is known by its first four bytes, which no frame begins with`(request: String) {
        #expect(outcome(request) == .violation(.request(.method)))
    }

    @Test func `may be HTTP/2`() {
        #expect(outcome("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == .violation(.request(.httpVersion)))
    }

    @Test(arguments: ["get /", "PUTX", " GET", "{\"js", "\u{16}\u{3}\u{1}\u{2}"])
    func `is nothing else`(text: String) {
        #expect(outcome(text) == .violation(.frame))
    }

    @Test func `is told the address of the HTTP API`() {
        var bytes: [UInt8] = []
        bytes.appendAnswer(UpgradeError.path)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(text.contains("--http"))
    }
}
