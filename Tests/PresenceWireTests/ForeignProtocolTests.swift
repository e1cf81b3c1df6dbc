import PresenceCore
import Testing

@testable import PresenceWire

@Suite struct `HTTP on the native port` {
    /// The length that a frame splitter reads from the first four bytes.
    func length(_ text: String) -> Int { text.utf8.prefix(4).reduce(0) { $0 << 8 | Int($1) } }

    @Test(arguments: [
        "GET /", "PUT /", "POST /", "HEAD /", "DELETE /", "OPTIONS *", "PATCH /", "TRACE /",
        "CONNECT a:1", "PRI * HTTP/2.0",
    ])
    func `is known by its first four bytes, which no frame begins with`(request: String) {
        #expect(ForeignProtocol.isHTTPRequest(bytesClaimed: length(request)))
        // The highest limit that can be set.
        #expect(length(request) > 67_108_864)
    }

    @Test(arguments: ["get /", "GETX", " GET", "{\"js", "\u{16}\u{3}\u{1}\u{2}"])
    func `is nothing else`(text: String) {
        #expect(!ForeignProtocol.isHTTPRequest(bytesClaimed: length(text)))
    }

    @Test func `is answered in HTTP, with the length of the body`() {
        var bytes: [UInt8] = []
        bytes.appendHTTPRefusal()
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        let body = text.split(separator: "\r\n\r\n", maxSplits: 1).last ?? ""
        #expect(text.contains("Content-Length: \(body.utf8.count)\r\n"))
        #expect(body.contains("--http"))
    }
}
