import Testing

@testable import PresenceWire

@Suite struct `The handshake of a WebSocket` {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// RFC 3174, 7.3, and lengths around the end of a block.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
        (String(repeating: "a", count: 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
        (String(repeating: "a", count: 56), "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
        (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
        (
            String(repeating: "01234567", count: 80), "dea356a2cddd90c7a7ecedc5ebb563934f460452"
        ),
    ])
    func `has SHA-1`(message: String, hash: String) {
        #expect(hex(SHA1.hash(Array(message.utf8))) == hash)
    }

    /// RFC 6455, 1.3.
    @Test func `answers the key of the RFC`() {
        let key = Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)
        #expect(
            UpgradeRequest.acceptKey(for: key) == Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8))
    }

    @Test(arguments: UpgradeError.allCases)
    func `is rejected in HTTP, with the length of the text`(error: UpgradeError) throws {
        var bytes: [UInt8] = []
        bytes.appendAnswer(error)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(error.status) "))
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
        try #require(parts.count == 2)
        #expect(text.contains("\r\nContent-Length: \(parts[1].utf8.count)\r\n"))
        #expect(text.contains("\r\nConnection: close"))
        #expect(parts[1].hasSuffix(".\n") || parts[1].contains("--http"))
        #expect(parts[1].utf8.count <= 200)
    }
}

@Suite struct `The origin of a page` {
    @Test(arguments: [
        "http://localhost", "https://localhost:8443", "http://127.0.0.1:5173", "http://[::1]:80",
        "http://127.255.0.9",
    ])
    func `is this machine`(origin: String) {
        #expect(OriginRule.loopback.accepts(Array(origin.utf8)))
    }

    @Test(arguments: [
        "https://example.com", "http://localhost.example.com", "null", "file://", "",
        "http://127.0.0.1.example.com", "http://127.example.com", "http://localhost:80@evil",
        "http://[::2]", "ftp://localhost", "http://localhost/", "xhttp://localhost",
        "http://LOCALHOST.", "http://localhost http://evil",
    ])
    func `is another machine`(origin: String) {
        #expect(!OriginRule.loopback.accepts(Array(origin.utf8)))
        #expect(OriginRule.any.accepts(Array(origin.utf8)))
    }

    @Test func `is in a list, exactly`() {
        let rule = OriginRule.listed([Array("https://app.example.com".utf8)])
        #expect(rule.accepts(Array("https://app.example.com".utf8)))
        for other in ["http://app.example.com", "https://app.example.com:443", "null"] {
            #expect(!rule.accepts(Array(other.utf8)))
        }
    }

    @Test(arguments: [OriginRule.any, .loopback, .listed([])])
    func `is not known of what is no page`(rule: OriginRule) {
        #expect(rule.accepts(nil))
    }
}
