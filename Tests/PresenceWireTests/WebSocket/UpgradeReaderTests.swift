import Containers
import Testing

@testable import PresenceWire

/// The fields of a valid request; the key is that of RFC 6455, 1.3.
private let validFields = [
    "Host: presence.example.com", "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
]

private func head(_ fields: [String]) -> [UInt8] {
    head("GET /v1/socket HTTP/1.1", fields)
}

private func head(_ line: String, _ fields: [String]) -> [UInt8] {
    Array(([line] + fields + ["", ""]).joined(separator: "\r\n").utf8)
}

/// What a reader makes of bytes that arrive in pieces, and how much of them it takes.
private func read(
    _ bytes: [UInt8], pieces: (Int) -> Int = { $0 }
) -> (outcome: UpgradeOutcome, taken: Int) {
    var reader = UpgradeReader()
    var start = 0
    while start < bytes.count {
        let end = start + max(1, min(pieces(bytes.count - start), bytes.count - start))
        let chunk = Array(bytes[start..<end])
        var offset = 0
        let outcome = reader.next(in: chunk.span.bytes, from: &offset)
        guard outcome == .needMore else { return (outcome, start + offset) }
        #expect(offset == chunk.count)
        start = end
    }
    return (.needMore, bytes.count)
}

private func outcome(_ bytes: [UInt8]) -> UpgradeOutcome {
    read(bytes).outcome
}

@Suite struct `A request for a WebSocket` {
    @Test func `is read as RFC 6455 shows it`() throws {
        let fields = [
            "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Origin: http://example.com",
            "Sec-WebSocket-Protocol: chat, porchlight.v1, superchat", "Sec-WebSocket-Version: 13",
        ]
        let bytes = head(fields)
        let (outcome, taken) = read(bytes + [0x81, 0x80])
        guard case .request(let request) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(taken == bytes.count)
        #expect(request.offersSubprotocol)
        #expect(request.origin == Array("http://example.com".utf8))
        var answer: [UInt8] = []
        answer.appendAnswer(request)
        #expect(
            String(decoding: answer, as: UTF8.self) == """
                HTTP/1.1 101 Switching Protocols\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
                Sec-WebSocket-Protocol: porchlight.v1\r
                \r

                """)
    }

    @Test(arguments: ["/xmpp", "/xmpp/", "/xmpp-websocket", "/xmpp-websocket/", "/xmpp/?a=b"])
    func `for XMPP names its subprotocol`(path: String) throws {
        let line = "GET \(path) HTTP/1.1"
        let offer = "Sec-WebSocket-Protocol: porchlight.v1, xmpp"
        guard case .request(let request) = outcome(head(line, validFields + [offer])) else {
            Issue.record("rejected")
            return
        }
        #expect(request.target == .xmpp && request.offersSubprotocol)
        var answer: [UInt8] = []
        answer.appendAnswer(request)
        #expect(
            String(decoding: answer, as: UTF8.self).hasSuffix(
                "\r\nSec-WebSocket-Protocol: xmpp\r\n\r\n"))
        for fields in [[], ["Sec-WebSocket-Protocol: porchlight.v1"]] {
            #expect(outcome(head(line, validFields + fields)) == .rejected(.subprotocolOfXMPP))
        }
        let native = head(validFields + ["Sec-WebSocket-Protocol: xmpp"])
        #expect(outcome(native) == .rejected(.subprotocol))
    }

    @Test func `need not name a subprotocol or an origin`() {
        guard case .request(let request) = outcome(head(validFields)) else {
            Issue.record("rejected")
            return
        }
        #expect(!request.offersSubprotocol && request.origin == nil)
        var answer: [UInt8] = []
        answer.appendAnswer(request)
        #expect(!String(decoding: answer, as: UTF8.self).contains("Protocol:"))
    }

    @Test(arguments: [
        ["GET /v1/socket?token=no HTTP/1.1"], ["GET /v1/socket? HTTP/1.1"],
        ["GET http://a/v1/socket HTTP/1.1"], ["GET HTTPS://[::1]:7400/v1/socket?a=/b HTTP/1.1"],
        // Fields as proxies and browsers write them.
        ["", "CONNECTION:keep-alive , UPGRADE"], ["", "Upgrade: WebSocket"],
        ["", "Upgrade: h2c,websocket"], ["", "Content-Length: 0"], ["", "User-Agent: \u{fc}\tx"],
        ["", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"],
        ["", "X-Empty:"], ["", "Cookie: a=b; c=\"d e\""],
        ["", "Sec-WebSocket-Protocol: other", "sec-websocket-protocol: porchlight.v1"],
    ])
    func `may look different`(change: [String]) {
        let line = change[0].isEmpty ? "GET /v1/socket HTTP/1.1" : change[0]
        let names = change.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() }
        let rest = validFields.filter { field in
            !names.contains(field.prefix { $0 != ":" }.lowercased())
        }
        guard case .request = outcome(head(line, rest + change.dropFirst())) else {
            Issue.record("rejected: \(outcome(head(line, rest + change.dropFirst())))")
            return
        }
    }

    @Test(
        arguments: [
            ("GET /v1/health HTTP/1.1", .path), ("GET / HTTP/1.1", .path),
            ("GET /v1/socket/ HTTP/1.1", .path), ("GET /v1/Socket HTTP/1.1", .path),
            ("GET /v1/%73ocket HTTP/1.1", .path), ("GETX /v1/socket HTTP/1.1", .method),
            ("GET", .method), ("Get /v1/socket HTTP/1.1", .method),
            ("GET /v1/socket HTTP/1.0", .httpVersion), ("GET /v1/socket HTTP/2.0", .httpVersion),
            ("GET /v1/socket HTTP/1.11", .malformed), ("GET /v1/socket http/1.1", .malformed),
            ("GET /v1/socket", .malformed), ("GET  /v1/socket HTTP/1.1", .malformed),
            ("GET /v1/socket  HTTP/1.1", .malformed), ("GET /v1/socket HTTP/1.1 ", .malformed),
            ("GET http:///v1/socket HTTP/1.1", .malformed), ("GET * HTTP/1.1", .malformed),
            ("GET http://u@a/v1/socket HTTP/1.1", .malformed), ("GET http://a HTTP/1.1", .path),
            ("GET ws://a/v1/socket HTTP/1.1", .malformed), ("GET http://a/x HTTP/1.1", .path),
            ("GET http:/v1/socket HTTP/1.1", .malformed),
            ("GET /v1/\tsocket HTTP/1.1", .malformed), ("GET /v1/s\u{f6}cket HTTP/1.1", .malformed),
            ("GET /v1/\u{7f} HTTP/1.1", .malformed),
        ] as [(String, UpgradeError)])
    func `is rejected for its first line`(line: String, error: UpgradeError) {
        #expect(outcome(head(line, validFields)) == .rejected(error))
    }

    @Test(
        arguments: [
            ("Host", [], .host), ("Host", ["Host: a", "Host: a"], .host),
            ("Host", ["Host:"], .host), ("Host", ["Host: a b"], .host),
            ("Host", ["Host: a/b"], .host),
            ("Host", ["Host: user@a"], .host), ("Upgrade", [], .notAnUpgrade),
            ("Upgrade", ["Upgrade: h2c"], .notAnUpgrade),
            ("Upgrade", ["Upgrade: websocket/13"], .notAnUpgrade),
            ("Connection", [], .notAnUpgrade), ("Connection", ["Connection: close"], .notAnUpgrade),
            ("Connection", ["Connection: upgrade\u{7f}"], .malformed),
            ("Connection", ["Connection: \"upgrade\""], .malformed),
            ("Sec-WebSocket-Key", [], .key),
            ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: abc"], .key),
            ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAA"], .key),
            ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAB=="], .key),
            ("Sec-WebSocket-Key", ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAA="], .key),
            (
                "", ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="], .key
            ),
            ("Sec-WebSocket-Version", [], .version),
            ("Sec-WebSocket-Version", ["Sec-WebSocket-Version: 8"], .version),
            ("Sec-WebSocket-Version", ["Sec-WebSocket-Version: 13, 8"], .version),
            ("", ["Sec-WebSocket-Version: 13"], .version),
            ("", ["Sec-WebSocket-Protocol: graphql-ws"], .subprotocol),
            ("", ["Sec-WebSocket-Protocol:"], .subprotocol),
            ("", ["Sec-WebSocket-Protocol: PORCHLIGHT.V1"], .subprotocol),
            ("", ["Content-Length: 1"], .body), ("", ["Content-Length: 00"], .body),
            ("", ["Transfer-Encoding: chunked"], .body), ("", ["Transfer-Encoding:"], .body),
            ("", ["Origin: a", "Origin: a"], .malformed), ("", ["no colon"], .malformed),
            ("", [": nameless"], .malformed), ("", ["X : blank"], .malformed),
            ("", [" X: folded"], .malformed), ("", ["\tfolded"], .malformed),
            ("", ["X(: y"], .malformed), ("", ["X: a\u{0}b"], .malformed),
            ("", ["X: a\rb"], .malformed), ("", ["X: a\nb"], .malformed),
            ("", ["X: \u{1b}"], .malformed),
        ] as [(String, [String], UpgradeError)])
    func `is rejected for its fields`(without: String, with: [String], error: UpgradeError) {
        let rest = validFields.filter { without.isEmpty || !$0.hasPrefix(without + ":") }
        #expect(outcome(head(rest + with)) == .rejected(error))
    }

    @Test func `has at most 64 fields and 8,192 bytes`() {
        let more = (validFields.count..<UpgradeReader.fieldsMax).map { "X-\($0): y" }
        guard case .request = outcome(head(validFields + more)) else {
            Issue.record("rejected")
            return
        }
        #expect(outcome(head(validFields + more + ["X: y"])) == .rejected(.tooLarge))
        let empty = head(validFields + ["X: "]).count
        let long = String(repeating: "x", count: UpgradeReader.headBytesMax - empty)
        guard case .request = outcome(head(validFields + ["X: " + long])) else {
            Issue.record("rejected")
            return
        }
        let tooLong = head(validFields + ["X: x" + long])
        #expect(outcome(tooLong) == .rejected(.tooLarge))
        // A head without an end is rejected when it is too long, and not kept any further.
        let endless = Array("GET /".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        #expect(read(endless).taken == UpgradeReader.headBytesMax + 1)
    }

    @Test func `is rejected at the first byte that shows what is wrong`() {
        #expect(read(Array("GEX".utf8)).taken == 3)
        #expect(read(Array("GET /\n/".utf8)).taken == 6)
        #expect(read(Array("GET / HTTP/1.1\r\r".utf8)).taken == 16)
        #expect(read(Array("GET /\u{0}x".utf8)).taken == 6)
    }

    /// What a reader makes of a request, and how much it takes, does not depend on how it is cut.
    @Test func `is read the same however it is cut`() {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let valid = head(validFields) + [0x89, 0x80, 1, 2, 3, 4]
        for round in 0..<2_000 {
            var bytes = valid
            if round > 0 {
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[place] = [0, 9, 10, 13, 32, 58, 71, 127, 200].randomElement(
                        using: &random)!
                }
            }
            let whole = read(bytes)
            let single = read(bytes) { _ in 1 }
            let pieces = read(bytes) { Int.random(in: 1...$0, using: &random) }
            #expect(whole == single && whole == pieces)
        }
    }

    @Test func `takes memory only for what has arrived`() {
        var reader = UpgradeReader()
        #expect(reader.bytesAllocated == 0)
        var offset = 0
        let chunk = Array("GET /v1/socket".utf8)
        _ = reader.next(in: chunk.span.bytes, from: &offset)
        #expect(reader.bytesBuffered == chunk.count && reader.bytesAllocated <= 64)
    }
}
